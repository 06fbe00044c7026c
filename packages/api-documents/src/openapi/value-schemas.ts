import type { ScalarType, ValueType } from '@podwright/kube-schema';
import { PATCH, VALUE_NAMES } from './definition-names.ts';
import type { JsonSchema } from './json-schema.ts';

/** The OpenAPI version of a schema. The versions differ in references, defaults and unions. */
export type Dialect = 'v2' | 'v3';

export const SCALARS: Readonly<Record<ScalarType, JsonSchema>> = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
};

/** Go's zero values by scalar type. */
export const ZEROS: Readonly<Record<ScalarType, unknown>> = {
  string: '',
  bool: false,
  int32: 0,
  int64: 0,
  double: 0,
  bytes: undefined,
};

const VALUES: Readonly<Record<ValueType, JsonSchema>> = {
  quantity: { type: 'string', description: 'An amount with an optional suffix, such as 500m, 2 or 128Mi.' },
  time: { type: 'string', format: 'date-time', description: 'A time in RFC 3339 form, in whole seconds.' },
  microTime: { type: 'string', format: 'date-time', description: 'A time in RFC 3339 form, in microseconds.' },
  duration: { type: 'string', description: 'A duration such as 1h30m or 10s.' },
  intOrString: { type: 'string', format: 'int-or-string', description: 'A number or a text, such as 80 or 25%.' },
  rawExtension: { type: 'object', description: 'Any object.' },
  fieldsV1: { type: 'object', description: 'A set of fields, as a tree of their names.' },
  json: { description: 'Any JSON value.' },
  schemaOrArray: { description: 'A schema, or a list of schemas.' },
  schemaOrBool: { description: 'A schema, or whether any value is allowed.' },
  schemaOrStringArray: { description: 'A schema, or a list of property names.' },
};

/** Schemas of the value types that are unions in OpenAPI v3. */
const V3_VALUES: Partial<Record<ValueType, JsonSchema>> = {
  quantity: { oneOf: [{ type: 'string' }, { type: 'number' }] },
  intOrString: { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
};

/** Returns the definition of a struct that is encoded as a single JSON value, or `undefined` for other definitions. */
export function valueSchema(name: string, dialect: Dialect): JsonSchema | undefined {
  if (name === PATCH) return { type: 'object', description: 'A patch, in the form that its media type names.' };
  const [value] = Object.entries(VALUE_NAMES).find(([, definition]) => definition === name) ?? [];
  if (value === undefined) return undefined;
  const { description, ...plain } = VALUES[value as ValueType];
  return { description, ...((dialect === 'v3' ? V3_VALUES[value as ValueType] : undefined) ?? plain) };
}
