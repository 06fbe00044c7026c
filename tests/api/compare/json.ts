/** JSON values as handled by the comparison: objects of any kind, validated only by the servers. */

// biome-ignore lint/suspicious/noExplicitAny: requests and answers of every kind
export type Json = any;

export const isMap = (value: Json): value is Record<string, Json> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const copyOf = (value: Json): Json => structuredClone(value);

/** Returns the entries of a value; list items have their index as the key. */
export const entriesOf = (value: Json): [string | number, Json][] =>
  Array.isArray(value) ? value.map((item, index) => [index, item]) : isMap(value) ? Object.entries(value) : [];

export type Path = readonly (string | number)[];

export const valueAt = (object: Json, path: Path): Json => path.reduce((value: Json, key) => value?.[key], object);

/** Returns a copy of `object` with the value at a path replaced; `undefined` removes the field. */
export function withValue(object: Json, path: Path, value: Json): Json {
  const copy = copyOf(object);
  const holder = path.slice(0, -1).reduce((parent: Json, key) => {
    parent[key] ??= {};
    return parent[key];
  }, copy);
  const last = path.at(-1)!;
  if (value !== undefined) holder[last] = value;
  else if (Array.isArray(holder)) holder.splice(Number(last), 1);
  else delete holder[last];
  return copy;
}

/** Returns the paths of all fields and items of a value, outermost first. Does not depend on the order in which a server sends fields. */
export function pathsOf(value: Json, depth = 20, prefix: Path = []): Path[] {
  if (depth === 0) return [];
  const entries = entriesOf(value);
  if (!Array.isArray(value)) entries.sort(([one], [other]) => (one < other ? -1 : 1));
  return entries.flatMap(([key, item]) => {
    const path = [...prefix, key];
    return [path, ...pathsOf(item, depth - 1, path)];
  });
}
