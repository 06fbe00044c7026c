import { isJsonObject } from '../json.ts';
import { type CustomSchema, propertyOf } from '../schema/custom-schema.ts';

/**
 * Returns server-side apply's errors for values of a custom object that are not lists or maps although its schema requires it:
 * `.spec.ports: expected list, got &{x}`. Such values cannot be merged.
 */
export function wrongStructures(value: unknown, schema: CustomSchema, path = ''): string[] {
  if (value === null || value === undefined) return [];
  const { type, items = {} } = schema;
  if (type === 'array') {
    if (!Array.isArray(value)) return [`${path}: expected list, got &{${shown(value)}}`];
    return value.flatMap((one, index) => wrongStructures(one, items, `${path}[${index}]`));
  }
  if (type !== 'object') return [];
  if (!isJsonObject(value)) return [`${path}: expected map, got &{${shown(value)}}`];
  return Object.entries(value).flatMap(([name, one]) =>
    wrongStructures(one, propertyOf(schema, name) ?? {}, `${path}.${name}`),
  );
}

const shown = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));
