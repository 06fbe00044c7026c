import type { ApiObject } from '@podwright/kube-kinds';

/** The start of an encoded object's metadata. Only strings with escaped quotes precede it, so this is its first occurrence. */
const METADATA = '"metadata":{"resourceVersion":"';

/**
 * An object at a revision: immutable, stored as UTF-8 JSON, and decoded on demand. The decoded form is cached until the next garbage
 * collection.
 */
export class StoredObject {
  /** `namespace/name`; the namespace of a cluster-scoped object is empty. */
  readonly key: string;
  readonly revision: number;
  /** The whole JSON document; its `metadata.resourceVersion` is the revision. */
  readonly bytes: Buffer;
  #decoded: WeakRef<ApiObject> | undefined;

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

  /** The object, which must not be modified. */
  decode(): ApiObject {
    const cached = this.#decoded?.deref();
    if (cached !== undefined) return cached;
    const object = JSON.parse(this.bytes.toString()) as ApiObject;
    this.#decoded = new WeakRef(object);
    return object;
  }

  /** The same state with another revision: that of its deletion, or of the change after which it no longer matches a watch. */
  withRevision(revision: number): StoredObject {
    const begin = this.bytes.indexOf(METADATA) + METADATA.length;
    const end = this.bytes.indexOf('"', begin);
    const parts = [this.bytes.subarray(0, begin), Buffer.from(String(revision)), this.bytes.subarray(end)];
    return new StoredObject(this.key, revision, joined(parts));
  }

  /** The document from its metadata on. With an opening brace before it, it is a list item, which has neither kind nor apiVersion. */
  get itemTail(): Buffer {
    return this.bytes.subarray(this.bytes.indexOf(METADATA));
  }
}

/**
 * The objects as list items: JSON objects without kind and apiVersion, separated by commas. The parts share the objects' memory and can be
 * written in one call. Copying 500 pods would take 2 MB, and a few dozen such copies would trigger a garbage collection of the whole heap.
 */
export function itemParts(objects: readonly StoredObject[]): Buffer[] {
  return objects.flatMap((object, index) => [index === 0 ? FIRST_ITEM : NEXT_ITEM, object.itemTail]);
}

const FIRST_ITEM = Buffer.from('{');
const NEXT_ITEM = Buffer.from(',{');

/** Allocates separate memory: a slice of Node's buffer pool would keep the whole pool alive as long as the object lives. */
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
