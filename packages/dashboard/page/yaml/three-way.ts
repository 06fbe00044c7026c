/** Three-way merge of an edited object with concurrent changes by others. Pure functions. */

export type Merged = {
  value: unknown;
  /**
   * Paths of fields that the edit and the concurrent changes set to different values, such as `spec.replicas`. `value` contains the edited
   * version of these fields.
   */
  conflicts: string[];
};

type Json = Record<string, unknown>;

const isMap = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether two JSON values are equal, regardless of key order. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((one, index) => isEqual(one, b[index]));
  if (!isMap(a) || !isMap(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key]));
}

/** The original, the edited and the currently stored value. */
type Three = { base: unknown; mine: unknown; theirs: unknown };

/** Applies the changes between `base` and `mine` to `theirs`. Lists are only merged if their items have unique names. */
export function mergeThree(three: Three, path: readonly string[] = []): Merged {
  const { base, mine, theirs } = three;
  if (isEqual(mine, base) || isEqual(mine, theirs)) return { value: theirs, conflicts: [] };
  if (isEqual(theirs, base)) return { value: mine, conflicts: [] };
  if (isMap(mine) && isMap(theirs)) return mergeMaps({ base: isMap(base) ? base : {}, mine, theirs }, path);
  const named = [base ?? [], mine, theirs].map(byName);
  const [namedBase, namedMine, namedTheirs] = named;
  if (namedBase === undefined || namedMine === undefined || namedTheirs === undefined)
    return { value: mine, conflicts: [path.join('.')] };
  const { value, conflicts } = mergeMaps({ base: namedBase, mine: namedMine, theirs: namedTheirs }, path);
  return { value: Object.values(value as Json), conflicts };
}

function mergeMaps({ base, mine, theirs }: { base: Json; mine: Json; theirs: Json }, path: readonly string[]): Merged {
  const entries: [string, unknown][] = [];
  const conflicts: string[] = [];
  for (const key of new Set([...Object.keys(theirs), ...Object.keys(mine)])) {
    const merged = mergeThree({ base: own(base, key), mine: own(mine, key), theirs: own(theirs, key) }, [...path, key]);
    if (merged.value !== undefined) entries.push([key, merged.value]);
    conflicts.push(...merged.conflicts);
  }
  return { value: Object.fromEntries(entries), conflicts };
}

/** Returns a map's own field, ignoring the prototype: a ConfigMap may have the key `__proto__`. */
const own = (map: Json, key: string): unknown => (Object.hasOwn(map, key) ? map[key] : undefined);

/** Returns a list's items, such as containers, by name. Returns undefined if an item has no name or a name is not unique. */
function byName(list: unknown): Json | undefined {
  if (!Array.isArray(list)) return undefined;
  const named: Json = {};
  for (const item of list) {
    const name = isMap(item) ? item.name : undefined;
    // the space keeps the items in order: JavaScript would move integer-like keys to the front
    if (typeof name !== 'string' || Object.hasOwn(named, ` ${name}`)) return undefined;
    named[` ${name}`] = item;
  }
  return named;
}
