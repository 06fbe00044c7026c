/** Prunes objects of custom kinds by removing undeclared fields (apiextensions-apiserver, pruning). */
import { isJsonObject, type JsonObject, setField } from '../json.ts';
import { type CustomSchema, propertyOf } from '../schema/custom-schema.ts';
import type { JsonPath } from './problems.ts';

export type Pruning = {
  /** Called with the path of each field that is removed. */
  removed: (path: JsonPath) => void;
  /** Decodes the metadata of the object being pruned, or of an object embedded in it. */
  metadata: (value: unknown, path: JsonPath) => unknown;
};

const OBJECT_FIELDS = ['apiVersion', 'kind', 'metadata'];

type Position = { schema: CustomSchema | undefined; path: JsonPath; preserves: boolean };

/** Returns a value without the fields that its schema does not declare. If there is no schema, objects lose all of their fields. */
export function pruned(value: unknown, { schema, path }: Omit<Position, 'preserves'>, pruning: Pruning): unknown {
  return prune(value, { schema, path, preserves: false }, pruning);
}

/** Returns a value without the fields that its schema does not declare. */
export const withDeclaredFields = (value: unknown, schema: CustomSchema): unknown =>
  pruned(value, { schema, path: [] }, { removed: () => undefined, metadata: (one) => one });

function prune(value: unknown, { schema, path, preserves }: Position, pruning: Pruning): unknown {
  const keeps = schema?.['x-kubernetes-preserve-unknown-fields'] === true || (preserves && schema !== undefined);
  if (Array.isArray(value)) {
    const below = { schema: schema?.items, preserves: keeps };
    if (keeps && below.schema === undefined) return value;
    return value.map((one, index) => prune(one, { ...below, path: [...path, index] }, pruning));
  }
  return isJsonObject(value) ? pruneFields(value, { schema, path, preserves: keeps }, pruning) : value;
}

function pruneFields(object: JsonObject, { schema = {}, path, preserves }: Position, pruning: Pruning): JsonObject {
  const result: JsonObject = {};
  const isResource = schema['x-kubernetes-embedded-resource'] === true;
  for (const [name, value] of Object.entries(object)) {
    const below = [...path, name];
    const property = propertyOf(schema, name);
    if (isResource && OBJECT_FIELDS.includes(name))
      setField(result, name, name === 'metadata' ? pruning.metadata(value, below) : value);
    else if (property !== undefined || schema.additionalProperties === true)
      setField(result, name, prune(value, { schema: property, path: below, preserves: false }, pruning));
    else if (preserves) setField(result, name, value);
    else pruning.removed(below);
  }
  return result;
}
