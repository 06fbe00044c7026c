/** JSON values as the comparison handles them: objects of every kind, whose shape only the servers check. */

// biome-ignore lint/suspicious/noExplicitAny: requests and answers of every kind
export type Json = any;

export const isMap = (value: Json): value is Record<string, Json> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const copyOf = (value: Json): Json => structuredClone(value);

/** The fields of a value, with keys for the items of lists. */
export const entriesOf = (value: Json): [string | number, Json][] =>
  Array.isArray(value) ? value.map((item, index) => [index, item]) : isMap(value) ? Object.entries(value) : [];

export type Path = readonly (string | number)[];

export const valueAt = (object: Json, path: Path): Json => path.reduce((value: Json, key) => value?.[key], object);

/** A copy of `object` with another value at a path; `undefined` removes the field. */
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

/** The paths of all fields and items of a value, outermost first. Servers may send the fields of an object in any order. */
export function pathsOf(value: Json, depth = 20, prefix: Path = []): Path[] {
  if (depth === 0) return [];
  const entries = entriesOf(value);
  if (!Array.isArray(value)) entries.sort(([one], [other]) => (one < other ? -1 : 1));
  return entries.flatMap(([key, item]) => {
    const path = [...prefix, key];
    return [path, ...pathsOf(item, depth - 1, path)];
  });
}
