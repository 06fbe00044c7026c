import type { ApiObject } from '@podwright/kube-kinds';

/**
 * Marks the start of the metadata in an encoded object. Quotes in preceding strings are escaped, so the first occurrence is always the
 * right one.
 */
const METADATA = '"metadata":{"resourceVersion":"';

/**
 * An object as of a revision. It is immutable, stored as UTF-8 JSON and decoded lazily. The decoded form is cached until the next garbage
 * collection.
 */
export class StoredObject {
  /** `namespace/name`. The namespace is empty for cluster-scoped objects. */
  readonly key: string;
  readonly revision: number;
  /** The complete JSON document, with `metadata.resourceVersion` equal to `revision`. */
  readonly bytes: Buffer;
  #decoded: WeakRef<ApiObject> | undefined;
  /** The copy of this object returned by the last `withRevision` call. */
  #revised: WeakRef<StoredObject> | undefined;

  constructor(key: string, revision: number, bytes: Buffer) {
    this.key = key;
    this.revision = revision;
    this.bytes = bytes;
  }

  /** Encodes an object with `revision` as its `resourceVersion`. */
  static encode(key: string, revision: number, { kind, apiVersion, metadata, ...fields }: ApiObject): StoredObject {
    const { resourceVersion: _, ...others } = metadata;
    const object: ApiObject = {
      kind,
      apiVersion,
      metadata: { resourceVersion: String(revision), ...others } as ApiObject['metadata'],
      ...fields,
    };
    const stored = new StoredObject(key, revision, exactBytes(JSON.stringify(object)));
    stored.#decoded = new WeakRef(object);
    return stored;
  }

  /** Returns the decoded object, which must not be modified. */
  decode(): ApiObject {
    const cached = this.#decoded?.deref();
    if (cached !== undefined) return cached;
    const object = JSON.parse(this.bytes.toString()) as ApiObject;
    this.#decoded = new WeakRef(object);
    return object;
  }

  /**
   * Returns the same state with a different revision: that of the object's deletion, or of the change that made it stop matching a watch.
   * The result is cached until the next garbage collection, because many watches need the same revision at the same time.
   */
  withRevision(revision: number): StoredObject {
    const known = this.#revised?.deref();
    if (known?.revision === revision) return known;
    const begin = this.bytes.indexOf(METADATA) + METADATA.length;
    const end = this.bytes.indexOf('"', begin);
    const parts = [this.bytes.subarray(0, begin), Buffer.from(String(revision)), this.bytes.subarray(end)];
    const revised = new StoredObject(this.key, revision, joined(parts));
    this.#revised = new WeakRef(revised);
    return revised;
  }

  /**
   * The part of the document that starts with the metadata. Prefixed with an opening brace, it is a list item, which has no kind or
   * apiVersion.
   */
  get itemTail(): Buffer {
    return this.bytes.subarray(this.bytes.indexOf(METADATA));
  }
}

/**
 * Encodes the objects as list items: comma-separated JSON objects without kind and apiVersion. The parts share the memory of the objects
 * and can be written with a single call. Copying 500 pods would take 2 MB, and a few dozen such copies would trigger a full garbage
 * collection.
 */
export function itemParts(objects: readonly StoredObject[]): Buffer[] {
  return objects.flatMap((object, index) => [index === 0 ? FIRST_ITEM : NEXT_ITEM, object.itemTail]);
}

const FIRST_ITEM = Buffer.from('{');
const NEXT_ITEM = Buffer.from(',{');

/**
 * Encodes a text in a separate memory block. A slice of Node.js's buffer pool would keep the entire pool in memory as long as the stored
 * object.
 */
function exactBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

function joined(parts: readonly Buffer[]): Buffer {
  const bytes = Buffer.allocUnsafeSlow(parts.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const part of parts) end += part.copy(bytes, end);
  return bytes;
}
