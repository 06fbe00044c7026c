import type { ApiObject } from '../api-object.ts';

/** Begins the metadata of an encoded object. Only strings precede it, in which quotes are escaped, so it occurs nowhere before. */
const METADATA = '"metadata":{"resourceVersion":"';

/**
 * An object at a revision: immutable, held as JSON in UTF-8, and decoded when needed. The decoded form is cached until the next garbage
 * collection.
 */
export class StoredObject {
  /** `namespace/name`; the namespace of a cluster-scoped object is empty. */
  readonly key: string;
  readonly revision: number;
  /** The whole document, in which `metadata.resourceVersion` is the revision. */
  readonly bytes: Buffer;
  #decoded: WeakRef<ApiObject> | undefined;

  constructor(key: string, revision: number, bytes: Buffer) {
    this.key = key;
    this.revision = revision;
    this.bytes = bytes;
  }

  /** Encodes an object with this revision instead of its `resourceVersion`. */
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

  /** The same state with another revision: of its deletion, or of the change by which it ceased to match a watch. */
  withRevision(revision: number): StoredObject {
    const begin = this.bytes.indexOf(METADATA) + METADATA.length;
    const end = this.bytes.indexOf('"', begin);
    const parts = [this.bytes.subarray(0, begin), Buffer.from(String(revision)), this.bytes.subarray(end)];
    return new StoredObject(this.key, revision, joined(parts));
  }

  /** The document from its metadata on: with a brace before it, an item of a list, which has neither kind nor apiVersion. */
  get itemTail(): Buffer {
    return this.bytes.subarray(this.bytes.indexOf(METADATA));
  }
}

/**
 * The objects as the items of a list: JSON objects without kind and apiVersion, separated by commas. In parts that share the memory of
 * the objects, to be written in one call: a copy of 500 pods would be 2 MB, and a few dozen of them cause a garbage collection of the
 * whole heap.
 */
export function itemParts(objects: readonly StoredObject[]): Buffer[] {
  return objects.flatMap((object, index) => [index === 0 ? FIRST_ITEM : NEXT_ITEM, object.itemTail]);
}

const FIRST_ITEM = Buffer.from('{');
const NEXT_ITEM = Buffer.from(',{');

/** Memory of its own: a part of Node's pool would keep the whole pool in memory for as long as the object lives. */
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
