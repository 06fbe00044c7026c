/** Validates that the elements of sets and maps are unique (apiextensions-apiserver, listtype). */
import { isRecord } from '@podwright/base';
import { duplicate, type FieldError, isSameValue } from '@podwright/kube-kinds';
import type { JsonSchema } from '../json-schema.ts';

type Place = { path: string; old?: unknown };

export function repeatedItems(value: unknown, schema: JsonSchema, { path, old }: Place): FieldError[] {
  if (old !== undefined && isSameValue(value, old)) return [];
  if (Array.isArray(value)) {
    const { items } = schema;
    const within =
      items === undefined ? [] : value.map((one, index) => repeatedItems(one, items, { path: `${path}[${index}]` }));
    return [...repeats(value, schema, path), ...within.flat()];
  }
  if (!isRecord(value)) return [];
  const { properties = {}, additionalProperties } = schema;
  return Object.entries(value).flatMap(([name, one]) => {
    const declared = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (typeof declared !== 'object') return [];
    const before = isRecord(old) ? old[name] : undefined;
    return repeatedItems(one, declared, { path: path === '' ? name : `${path}.${name}`, old: before });
  });
}

function repeats(list: readonly unknown[], schema: JsonSchema, path: string): FieldError[] {
  const type = schema['x-kubernetes-list-type'];
  if (type !== 'set' && type !== 'map') return [];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const identity = (one: unknown) =>
    type === 'set'
      ? one
      : Object.fromEntries(keys.flatMap((key) => (isRecord(one) && key in one ? [[key, one[key]]] : [])));
  const seen = new Set<string>();
  const reported = new Set<string>();
  return list.flatMap((one, index) => {
    const key = canonical(identity(one));
    const isRepeated = seen.has(key) && !reported.has(key);
    if (isRepeated) reported.add(key);
    seen.add(key);
    return isRepeated ? [duplicate(`${path}[${index}]`, identity(one))] : [];
  });
}

/** Returns a value's JSON with object keys sorted, so that equal values have the same text. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) =>
    isRecord(one) ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1))) : one,
  );
}
