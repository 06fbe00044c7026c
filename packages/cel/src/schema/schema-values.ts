/** Types and values of API objects that have a schema (apiserver, pkg/cel/common: schemas.go, valuesunstructured.go). */
import { isRecord } from '@podwright/base';
import type { CelType } from '../types/types.ts';
import * as types from '../types/types.ts';
import { type JsonField, JsonList, JsonMap, JsonObject, type JsonReader } from '../values/json-values.ts';
import { parseDuration, parseTimestamp } from '../values/times.ts';
import { CelError, type ListMode } from '../values/values.ts';
import { fieldNameOf } from './field-names.ts';

/** The fields of a schema (JSONSchemaProps) that determine the types and values. */
export type ValueSchema = {
  readonly type?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly properties?: Readonly<Record<string, ValueSchema>>;
  readonly additionalProperties?: ValueSchema | boolean;
  readonly items?: ValueSchema;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
};

/** The type of a schema's values, and the function that converts them from JSON. */
export type SchemaValues = { readonly type: CelType; readonly read: JsonReader };

const TEXT: ValueSchema = { type: 'string' };
const OBJECT_FIELDS: Readonly<Record<string, ValueSchema>> = {
  apiVersion: TEXT,
  kind: TEXT,
  metadata: { type: 'object', properties: { name: TEXT, generateName: TEXT } },
};

/**
 * Returns the type and the reader of a schema's values; `undefined` if the schema does not determine a type, in which case expressions
 * cannot read the values. `isResource`: whether the schema describes an API object, which has `apiVersion`, `kind` and `metadata`. `name`:
 * the name of the type, which must be unique among object schemas.
 */
export function schemaValues(
  schema: ValueSchema,
  { isResource = false, name = 'selfType' }: { isResource?: boolean; name?: string } = {},
): SchemaValues | undefined {
  const values = valuesOf(schema, isResource, name);
  if (values === undefined) return undefined;
  return { type: values.type, read: (json) => (json === null ? nullOf(schema) : values.read(json)) };
}

function nullOf({ nullable }: ValueSchema): null {
  if (nullable === true) return null;
  throw new CelError('invalid data, got null for schema with nullable=false');
}

function valuesOf(schema: ValueSchema, isObject: boolean, name: string): SchemaValues | undefined {
  if (schema['x-kubernetes-int-or-string'] === true) return INT_OR_STRING;
  switch (schema.type) {
    case 'object':
      return objectValues(
        isObject ? { ...schema, properties: { ...schema.properties, ...OBJECT_FIELDS } } : schema,
        name,
      );
    case 'array':
      return listValues(schema, name);
    case 'string':
      return textValues(schema.format);
    case 'boolean':
      return { type: types.BOOL, read: expecting('bool', (json) => (typeof json === 'boolean' ? json : undefined)) };
    case 'number':
      return { type: types.DOUBLE, read: expecting('float', (json) => (typeof json === 'number' ? json : undefined)) };
    case 'integer':
      return {
        type: types.INT,
        read: expecting('int', (json) => (Number.isInteger(json) ? BigInt(Number(json)) : undefined)),
      };
    default:
      return undefined;
  }
}

/** Returns a reader that throws `CelError` for values that `read` does not accept, because they are not of this type. */
const expecting =
  (type: string, read: (json: unknown) => ReturnType<JsonReader> | undefined): JsonReader =>
  (json) => {
    const value = read(json);
    if (value === undefined) throw new CelError(`invalid data, expected ${type}`);
    return value;
  };

const INT_OR_STRING: SchemaValues = {
  type: types.DYN,
  read: expecting('XIntOrString value to be either a string or integer', (json) => {
    if (typeof json === 'string') return json;
    return Number.isInteger(json) ? BigInt(Number(json)) : undefined;
  }),
};

const nested = (schema: ValueSchema, name: string): SchemaValues | undefined =>
  schemaValues(schema, { isResource: schema['x-kubernetes-embedded-resource'] === true, name });

function objectValues({ properties, additionalProperties }: ValueSchema, typeName: string): SchemaValues | undefined {
  if (typeof additionalProperties === 'object' && properties === undefined) {
    const values = nested(additionalProperties, `${typeName}.@elem`);
    if (values === undefined) return undefined;
    return {
      type: types.mapOf(types.STRING, values.type),
      read: expecting('a map', (json) => (isRecord(json) ? new JsonMap(json, values.read) : undefined)),
    };
  }
  const fields = new Map<string, JsonField>();
  const fieldTypes: [string, CelType][] = [];
  for (const [name, schema] of Object.entries(properties ?? {})) {
    const field = fieldNameOf(name);
    const values = nested(schema, `${typeName}.${field}`);
    if (values === undefined || field === undefined) continue;
    fields.set(field, { name, read: values.read });
    fieldTypes.push([field, values.type]);
  }
  return {
    type: types.objectOf(typeName, fieldTypes),
    read: expecting('a map', (json) => (isRecord(json) ? new JsonObject(json, fields) : undefined)),
  };
}

function listValues(schema: ValueSchema, name: string): SchemaValues | undefined {
  const { items } = schema;
  const values = items && nested(items, `${name}.@idx`);
  if (values === undefined) return undefined;
  const mode = listMode(schema);
  return {
    type: types.listOf(values.type),
    read: expecting('an array', (json) => (Array.isArray(json) ? new JsonList(json, values.read, mode) : undefined)),
  };
}

function listMode(schema: ValueSchema): ListMode {
  const type = schema['x-kubernetes-list-type'];
  if (type === 'map')
    return { keys: (schema['x-kubernetes-list-map-keys'] ?? []).map((key) => fieldNameOf(key) ?? key) };
  return type === 'set' ? 'set' : 'atomic';
}

const textReader = (type: string, read: (text: string) => ReturnType<JsonReader> | undefined): JsonReader =>
  expecting(type, (json) => (typeof json === 'string' ? read(json) : undefined));

function textValues(format: string | undefined): SchemaValues {
  switch (format) {
    case 'byte':
      return { type: types.BYTES, read: textReader('bytes', (text) => Buffer.from(text, 'base64')) };
    case 'duration':
      return { type: types.DURATION, read: textReader('duration', durationOf) };
    case 'date':
      return { type: types.TIMESTAMP, read: textReader('date', (text) => parseTimestamp(`${text}T00:00:00Z`)) };
    case 'date-time':
      return { type: types.TIMESTAMP, read: textReader('date-time', (text) => parseTimestamp(text.replace(' ', 'T'))) };
    default:
      return { type: types.STRING, read: textReader('string', (text) => text) };
  }
}

const LONG_UNITS: readonly (readonly [RegExp, string])[] = [
  [/^(?:nano|nanoseconds?)$/, 'ns'],
  [/^milliseconds?$/, 'ms'],
  [/^(?:sec|seconds?)$/, 's'],
  [/^(?:min|minutes?)$/, 'm'],
  [/^(?:hr|hours?)$/, 'h'],
];

/** Parses a duration. Schemas accept more formats than expressions do, such as `3 days`. */
function durationOf(text: string): ReturnType<typeof parseDuration> {
  const [, count = '', unit = ''] = /^(\d{1,12}) *([a-z]+)$/.exec(text) ?? [];
  if (/^(?:d|days?)$/.test(unit)) return parseDuration(`${BigInt(count) * 24n}h`);
  if (/^(?:w|weeks?)$/.test(unit)) return parseDuration(`${BigInt(count) * 168n}h`);
  const known = LONG_UNITS.find(([names]) => names.test(unit))?.[1];
  return parseDuration(known === undefined ? text.replaceAll(' ', '') : `${count}${known}`);
}
