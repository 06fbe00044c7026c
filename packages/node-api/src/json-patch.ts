/** Applies JSON patches (RFC 6902) and converts them to merge patches (RFC 7386). */
import { isDeepStrictEqual } from 'node:util';
import { isRecord, PodwrightError } from '@podwright/base';
import { MAX_MANIFEST_BYTES } from '@podwright/kube-api';

/** Maximum number of operations in one patch, as in the API server. */
const MAX_OPERATIONS = 10_000;

type Json = Record<string, unknown>;
type Operation = { op: string; path: string; from: string; value: unknown };

/** Applies a patch's operations in order to a copy of the object. Throws `invalid_argument`. */
export function jsonPatch(object: object, text: string): Json {
  const root: Json = { '': JSON.parse(JSON.stringify(object)) };
  const operations = readOperations(text);
  let copiedBytes = 0;
  for (const [index, operation] of operations.entries()) {
    try {
      copiedBytes += apply(root, operation);
    } catch (error) {
      if (!(error instanceof Misfit)) throw error;
      throw refusal(`[${index}]: ${operation.op} ${operation.path}: ${error.message}`);
    }
    // limit the copied bytes: each copy operation can double the size of the object, so it could grow exponentially
    if (copiedBytes > MAX_MANIFEST_BYTES) throw refusal(`[${index}]: copies more than ${MAX_MANIFEST_BYTES >> 20} MiB`);
  }
  if (isRecord(root[''])) return root[''];
  throw refusal('the result is not an object');
}

/** Returns the merge patch that turns `before` into `after`, with null for every removed value. */
export function mergePatchBetween(before: Json, after: Json): Json {
  const patch: Json = {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, now] = [own(before, key), own(after, key)];
    if (isDeepStrictEqual(old, now)) continue;
    if (isRecord(old) && (isRecord(now) || now === undefined)) define(patch, key, mergePatchBetween(old, now ?? {}));
    else define(patch, key, now ?? null);
  }
  return patch;
}

/** Thrown if an operation cannot be applied to the object. */
class Misfit extends Error {}

function refusal(why: string): PodwrightError {
  return new PodwrightError('invalid_argument', `read the patch: ${why.slice(0, 300)}`);
}

function readOperations(text: string): Operation[] {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (error) {
    throw new PodwrightError('invalid_argument', 'read the patch: it is not JSON', { cause: error });
  }
  if (!Array.isArray(given)) throw refusal('a JSON patch is a list of operations, such as [{"op":"add",…}]');
  if (given.length > MAX_OPERATIONS) throw refusal(`it has more than ${MAX_OPERATIONS} operations`);
  return given.map((operation, index) => {
    const { op, path, from, value } = isRecord(operation) ? operation : {};
    if (typeof op !== 'string' || !isPointer(path) || (from !== undefined && !isPointer(from)))
      throw refusal(`[${index}]: must have an op and a path such as /metadata/labels/app`);
    return { op, path, from: from ?? '', value };
  });
}

const isPointer = (text: unknown): text is string => text === '' || (typeof text === 'string' && text.startsWith('/'));

/** Applies an operation and returns the number of bytes it copied. */
function apply(root: Json, { op, path, from, value }: Operation): number {
  if (value === undefined && (op === 'add' || op === 'replace')) throw new Misfit('it has no value');
  if (op === 'add') add(root, path, value);
  else if (op === 'remove') remove(root, path);
  else if (op === 'replace') replace(root, path, value);
  else if (op === 'test') {
    const { parent, key } = parentOf(root, path);
    if (!isDeepStrictEqual(step(parent, key) ?? null, value ?? null)) throw new Misfit('the value is different');
  } else if (op === 'move') {
    const moved = read(root, from);
    remove(root, from);
    add(root, path, moved);
  } else if (op === 'copy') {
    const copied = JSON.stringify(read(root, from));
    add(root, path, JSON.parse(copied));
    return copied.length;
  } else throw new Misfit('unknown operation; use add, remove, replace, move, copy or test');
  return 0;
}

/** Splits a JSON pointer (RFC 6901) into its keys. The first key is '', under which `root` holds the object. */
const parts = (path: string) => path.split('/').map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

function parentOf(root: Json, path: string): { parent: Json | unknown[]; key: string } {
  const names = parts(path);
  const parent = names.slice(0, -1).reduce<unknown>(step, root);
  if (isRecord(parent) || Array.isArray(parent)) return { parent, key: names.at(-1)! };
  throw new Misfit('the parent of this field does not exist');
}

function step(parent: unknown, name: string): unknown {
  if (Array.isArray(parent)) return /^(0|[1-9]\d*)$/.test(name) ? parent[Number(name)] : undefined;
  return isRecord(parent) ? own(parent, name) : undefined;
}

function own(parent: Json, name: string): unknown {
  return Object.hasOwn(parent, name) ? parent[name] : undefined;
}

/** Sets a field, even one named `__proto__`: a plain assignment would set the prototype instead. */
function define(parent: Json, name: string, value: unknown): void {
  Object.defineProperty(parent, name, { value, enumerable: true, writable: true, configurable: true });
}

function read(root: Json, path: string): unknown {
  const { parent, key } = parentOf(root, path);
  const value = step(parent, key);
  if (value === undefined) throw new Misfit('the field does not exist');
  return value;
}

function add(root: Json, path: string, value: unknown): void {
  const { parent, key } = parentOf(root, path);
  if (!Array.isArray(parent)) return define(parent, key, value);
  const index = key === '-' ? parent.length : /^(0|[1-9]\d*)$/.test(key) ? Number(key) : -1;
  if (index < 0 || index > parent.length) throw new Misfit(`the list has no index ${key}`);
  parent.splice(index, 0, value);
}

/** Replaces a value. Like the API server, adds the field to a map that does not have it. */
function replace(root: Json, path: string, value: unknown): void {
  const { parent, key } = parentOf(root, path);
  if (!Array.isArray(parent)) return define(parent, key, value);
  read(root, path);
  parent[Number(key)] = value;
}

function remove(root: Json, path: string): void {
  read(root, path);
  const { parent, key } = parentOf(root, path);
  if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else delete parent[key];
}
