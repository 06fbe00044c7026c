/** JSON Pointer (RFC 6901), with the errors of the library that upstream's API server uses (evanphx/json-patch 4). */
import { fieldOf, isJsonObject, type JsonObject, setField } from '../json.ts';
import { patchError } from './patch-error.ts';

/**
 * The location of a field or list element: the object or list that contains it, and its key there. The field or element itself may be
 * absent.
 */
export type Location = { parent: JsonObject | unknown[]; key: string };

const failed = (message: string) => patchError('failed_precondition', message);

/** Returns the location at a path in a document, or `undefined` if one of its ancestors is absent. The root has no location. */
export function locate(document: unknown, path: string): Location | undefined {
  const [, ...names] = path.split('/').map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const key = names.pop();
  let parent = document;
  for (const name of names) {
    if (!isJsonObject(parent) && !Array.isArray(parent)) return undefined;
    parent = Array.isArray(parent) ? parent[indexOf(parent, name) ?? -1] : fieldOf(parent, name);
  }
  return key !== undefined && (isJsonObject(parent) || Array.isArray(parent)) ? { parent, key } : undefined;
}

/** Returns the value at a location, or `undefined` if the field is absent. Throws if the index is out of range. */
export function read({ parent, key }: Location): unknown {
  return Array.isArray(parent) ? parent[existingIndex(parent, key)] : fieldOf(parent, key);
}

/** Sets a field or replaces a list element. */
export function set({ parent, key }: Location, value: unknown): void {
  if (Array.isArray(parent)) parent[existingIndex(parent, key)] = value;
  else setField(parent, key, value);
}

/** Sets a field or inserts a list element; the key `-` means the end of the list. Returns how many list elements were moved. */
export function insert({ parent, key }: Location, value: unknown): number {
  if (!Array.isArray(parent)) {
    setField(parent, key, value);
    return 0;
  }
  const index = key === '-' ? parent.length : toInteger(key);
  if (index === undefined) throw failed(`value was not a proper array index: '${key}'`);
  const at = index < 0 ? index + parent.length + 1 : index;
  if (at < 0 || at > parent.length) throw invalidIndex(index);
  parent.splice(at, 0, value);
  return parent.length - at;
}

/** Removes a field or a list element. Returns how many list elements were moved. */
export function remove({ parent, key }: Location): number {
  if (Array.isArray(parent)) {
    const index = existingIndex(parent, key);
    parent.splice(index, 1);
    return parent.length - index;
  }
  if (!Object.hasOwn(parent, key)) throw failed(`Unable to remove nonexistent key: ${key}: missing value`);
  delete parent[key];
  return 0;
}

function existingIndex(list: unknown[], key: string): number {
  const index = indexOf(list, key);
  if (index === undefined) throw invalidIndex(toInteger(key) ?? key);
  return index;
}

/** Returns a list element's index. Negative indexes count from the end, as in upstream's library. */
function indexOf(list: unknown[], key: string): number | undefined {
  const given = toInteger(key) ?? Number.NaN;
  const index = given < 0 ? given + list.length : given;
  return index >= 0 && index < list.length ? index : undefined;
}

const toInteger = (key: string): number | undefined => (/^[+-]?\d{1,15}$/.test(key) ? Number(key) : undefined);

const invalidIndex = (index: number | string) =>
  failed(`Unable to access invalid index: ${index}: invalid index referenced`);
