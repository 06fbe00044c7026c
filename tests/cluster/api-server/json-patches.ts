/** JSON merge patch (RFC 7386) and JSON patch (RFC 6902). */
import { isObject, type JsonObject, sameJson } from './json.ts';
import { ApiError, badRequest } from './status-error.ts';

/** The API server's limit. */
const MAX_OPERATIONS = 10_000;

export function mergePatch(original: JsonObject, patch: JsonObject): JsonObject {
  const result = { ...original };
  for (const [field, value] of Object.entries(patch)) {
    const before = result[field];
    if (value === null) delete result[field];
    else result[field] = isObject(value) ? mergePatch(isObject(before) ? before : {}, value) : value;
  }
  return result;
}

type Operation = { op: string; path: string; from?: string; value?: unknown };

const failed = (message: string) => new ApiError(422, 'Invalid', { message });

/** Applies the operations in order to a copy. */
export function jsonPatch(original: JsonObject, operations: unknown): JsonObject {
  if (!Array.isArray(operations)) throw badRequest('a JSON patch is a list of operations');
  if (operations.length > MAX_OPERATIONS) {
    const message = `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${operations.length}`;
    throw new ApiError(413, 'RequestEntityTooLarge', { message });
  }
  const root: JsonObject = { '': structuredClone(original) };
  for (const operation of operations) apply(root, readOperation(operation));
  if (!isObject(root[''])) throw failed('the patched document is not an object');
  return root[''];
}

function readOperation(given: unknown): Operation {
  const { op, path, from, value } = isObject(given) ? given : {};
  const isPointer = (text: unknown) => text === '' || (typeof text === 'string' && text.startsWith('/'));
  if (typeof op !== 'string' || !isPointer(path) || (from !== undefined && !isPointer(from)))
    throw badRequest(`not an operation of a JSON patch: ${JSON.stringify(given)}`);
  return { op, path: path as string, from: from as string | undefined, value };
}

function apply(root: JsonObject, { op, path, from, value }: Operation): void {
  switch (op) {
    case 'add':
      return add(root, path, value);
    case 'remove':
      return remove(root, path);
    case 'replace':
      // In objects, upstream's library also replaces missing fields.
      return replace(root, path, value);
    case 'test':
      if (!sameJson(readOrNothing(root, path), value ?? undefined))
        throw failed(`testing value ${path} failed: test failed`);
      return;
    case 'copy':
      return add(root, path, structuredClone(read(root, from ?? '')));
    case 'move': {
      const moved = read(root, from ?? '');
      remove(root, from ?? '');
      return add(root, path, moved);
    }
    default:
      throw badRequest(`unexpected operation of a JSON patch: ${op}`);
  }
}

/** The parts of a JSON pointer, starting with the root's key. */
const parts = (path: string) => path.split('/').map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

function parentOf(root: JsonObject, path: string): { parent: JsonObject | unknown[]; key: string } {
  const names = parts(path);
  const parent = names.slice(0, -1).reduce<unknown>((place, name) => step(place, name), root);
  if (!isObject(parent) && !Array.isArray(parent)) throw failed(`doc is missing path: ${path}`);
  return { parent, key: names.at(-1)! };
}

function step(place: unknown, name: string): unknown {
  if (Array.isArray(place)) return /^\d+$/.test(name) ? place[Number(name)] : undefined;
  return isObject(place) && Object.hasOwn(place, name) ? place[name] : undefined;
}

function read(root: JsonObject, path: string): unknown {
  const { parent, key } = parentOf(root, path);
  const value = step(parent, key);
  if (value === undefined) throw failed(`doc is missing key: ${path}`);
  return value;
}

function readOrNothing(root: JsonObject, path: string): unknown {
  const { parent, key } = parentOf(root, path);
  return step(parent, key) ?? undefined;
}

function add(root: JsonObject, path: string, value: unknown): void {
  const { parent, key } = parentOf(root, path);
  if (!Array.isArray(parent)) {
    parent[key] = value;
    return;
  }
  const index = key === '-' ? parent.length : Number(key);
  if (!Number.isInteger(index) || index < 0 || index > parent.length) throw failed(`invalid array index: ${path}`);
  parent.splice(index, 0, value);
}

function replace(root: JsonObject, path: string, value: unknown): void {
  const { parent, key } = parentOf(root, path);
  if (Array.isArray(parent)) {
    read(root, path);
    parent[Number(key)] = value;
  } else parent[key] = value;
}

function remove(root: JsonObject, path: string): void {
  read(root, path);
  const { parent, key } = parentOf(root, path);
  if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else delete parent[key];
}
