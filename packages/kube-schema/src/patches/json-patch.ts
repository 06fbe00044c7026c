/** JSON Patch (RFC 6902), matching the behavior of upstream's API server. */
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, isTooDeep, type JsonObject } from '../json.ts';
import { insert, type Location, locate, read, remove, set } from './json-pointer.ts';
import { checkDepth, patchError } from './patch-error.ts';

/**
 * Maximum number of operations in a patch, as in upstream's API server. `MAX_COPIED_BYTES`: maximum total number of bytes that `copy`
 * operations may add; equal to the API server's limit for request bodies.
 */
const MAX_OPERATIONS = 10_000;
const MAX_COPIED_BYTES = 3 << 20;
/**
 * Maximum number of list elements moved by a patch's insertions and removals; moving this many takes about a second. Each insertion into a
 * long list moves all elements after it.
 */
const MAX_MOVED_ELEMENTS = 1e9;

type Operation = { op: string; path: string; from: string; value: unknown };

const failed = (message: string) => patchError('failed_precondition', message);

/**
 * Applies a JSON patch's operations in order to a copy of the object. Throws `invalid_argument` for anything that is not a JSON patch,
 * `failed_precondition` for an operation that does not apply, and `resource_exhausted` for too many or too expensive operations.
 */
export function jsonPatch(original: JsonObject, operations: unknown): JsonObject {
  checkDepth(operations);
  if (!Array.isArray(operations)) throw patchError('invalid_argument', 'a JSON patch is a list of operations');
  if (operations.length > MAX_OPERATIONS)
    throw patchError(
      'resource_exhausted',
      `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${operations.length}`,
    );
  const patched = new Patched(original);
  for (const operation of operations.map(readOperation)) patched.apply(operation);
  if (!isJsonObject(patched.document)) throw failed('the patched document is not an object');
  // each `move` operation can nest the document more deeply, so the depth of the patched document must be checked, too
  if (isTooDeep(patched.document)) throw failed('exceeded max depth');
  return patched.document;
}

/** Reads an operation. Like upstream, accepts operations with missing fields, which then fail to apply. */
function readOperation(given: unknown): Operation {
  if (!isJsonObject(given) && given !== null) throw wrongType(given, 'value of type handlers.jsonPatchOp');
  const { value, ...fields } = given ?? {};
  const text = (name: 'op' | 'path' | 'from'): string => {
    const found = fields[name] ?? '';
    if (typeof found !== 'string') throw wrongType(found, `struct field jsonPatchOp.${name} of type string`);
    return found;
  };
  return { op: text('op'), path: text('path'), from: text('from'), value };
}

function wrongType(value: unknown, target: string) {
  const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  return patchError('invalid_argument', `error decoding patch: json: cannot unmarshal ${type} into Go ${target}`);
}

/** A document being patched, and the cost of the operations applied to it so far. */
class Patched {
  document: unknown;
  #copiedBytes = 0;
  #movedElements = 0;

  constructor(original: JsonObject) {
    this.document = structuredClone(original);
  }

  apply(operation: Operation): void {
    const { op, path, from, value } = operation;
    switch (op) {
      case 'add':
        return this.#moved(insert(this.#find(op, path), structuredClone(value ?? null)));
      case 'remove':
        return this.#moved(remove(this.#find(op, path)));
      case 'replace':
        if (path === '') this.document = structuredClone(value);
        // upstream's library allows `replace` on absent fields of an object, too
        else set(this.#find(op, path), structuredClone(value ?? null));
        return;
      case 'test':
        return this.#test(path, value);
      case 'move': {
        const source = this.#find(op, from);
        const moved = read(source);
        this.#moved(remove(source));
        return this.#moved(insert(this.#find(op, path), moved ?? null));
      }
      case 'copy':
        return this.#copy(operation);
      default:
        throw failed(`Unexpected kind: ${op}`);
    }
  }

  #find(op: string, path: string): Location {
    const found = locate(this.document, path);
    if (found === undefined)
      throw failed(`${op} operation does not apply: doc is missing path: "${path}": missing value`);
    return found;
  }

  #test(path: string, value: unknown): void {
    const found = path === '' ? this.document : read(this.#find('test', path));
    if (!isDeepStrictEqual(found ?? null, value ?? null)) throw failed(`testing value ${path} failed: test failed`);
  }

  /** Applies a `copy` operation. Each copy can double the document's size, so the total size of all copies is limited. */
  #copy({ op, path, from }: Operation): void {
    const value = read(this.#find(op, from)) ?? null;
    if (isTooDeep(value)) throw failed('exceeded max depth');
    const text = JSON.stringify(value);
    this.#copiedBytes += Buffer.byteLength(text);
    if (this.#copiedBytes > MAX_COPIED_BYTES)
      throw patchError(
        'resource_exhausted',
        `Unable to complete the copy, the accumulated size increase of copy is ${this.#copiedBytes}, exceeding the limit ${MAX_COPIED_BYTES}`,
      );
    this.#moved(insert(this.#find(op, path), JSON.parse(text)));
  }

  #moved(count: number): void {
    this.#movedElements += count;
    if (this.#movedElements > MAX_MOVED_ELEMENTS)
      throw patchError('resource_exhausted', 'the operations move too many elements of lists');
  }
}
