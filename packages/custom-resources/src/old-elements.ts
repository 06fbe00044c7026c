import { isRecord } from '@podwright/base';
import type { JsonSchema } from './json-schema.ts';

/** Returns a function that finds the old state of a list element by its keys. Only elements of `map` lists have one. */
export function oldElements(schema: JsonSchema, old: unknown): (element: unknown) => unknown {
  if (schema['x-kubernetes-list-type'] !== 'map' || !Array.isArray(old)) return () => undefined;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const keyOf = (one: unknown) => JSON.stringify(keys.map((key) => (isRecord(one) ? one[key] : undefined) ?? null));
  const byKey = new Map(old.map((one) => [keyOf(one), one]));
  return (element) => byKey.get(keyOf(element));
}
