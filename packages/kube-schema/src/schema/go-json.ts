/** Encodes unset fields as Go's JSON encoder does. */
import { type JsonObject, setField } from '../json.ts';
import { type Field, isScalarType, isStructType, type ScalarType, type StructType, type ValueType } from './field.ts';
import type { Schema } from './schema.ts';

/** Go's zero values of scalars, and of structs that JSON represents as a single value. */
const ZEROS: Readonly<Record<ScalarType | ValueType, unknown>> = {
  string: '',
  bytes: '',
  bool: false,
  int32: 0,
  int64: 0,
  double: 0,
  quantity: '0',
  time: null,
  microTime: null,
  duration: '0s',
  intOrString: 0,
  rawExtension: null,
  fieldsV1: null,
  json: null,
  schemaOrArray: null,
  schemaOrBool: false,
  schemaOrStringArray: null,
};

/** Returns Go's JSON encoding of a type's zero value. */
export function zeroOf(schema: Schema, name: string): unknown {
  if (!isStructType(name)) return ZEROS[name as ScalarType | ValueType];
  const type = schema.type(name);
  return type.isList ? null : objectOf(schema, { fields: type.fields, found: () => undefined });
}

/**
 * Encodes the given fields of a struct as Go does. `found` returns the value that Go would hold in a field, or `undefined` if the field was
 * never set.
 */
export function objectOf(
  schema: Schema,
  { fields, found }: { fields: readonly Field[]; found: (field: Field) => unknown },
): JsonObject {
  const result: JsonObject = {};
  for (const field of fields) {
    const value = found(field);
    const shown = value === undefined ? absent(schema, field) : isLeftOut(field, value) ? undefined : value;
    if (field.isInlined) Object.assign(result, shown);
    else if (shown !== undefined) setField(result, field.name, shown);
  }
  return result;
}

/**
 * Encodes a struct like Go, with the fields in the order of its JSON. `values`: the values that Go would hold in the fields that were set.
 */
export function structOf(schema: Schema, type: StructType, values: ReadonlyMap<Field, unknown>): JsonObject {
  const result: JsonObject = {};
  for (const { field, unset } of unsetFields(schema, type)) {
    const value = values.get(field);
    if (value !== undefined) {
      if (!isLeftOut(field, value)) setField(result, field.name, value);
    } else if (typeof unset === 'object' && unset !== null)
      setField(result, field.name, absent(schema, field)); // decoded objects do not share parts that could be changed
    else if (unset !== undefined) setField(result, field.name, unset);
  }
  return result;
}

/** Returns a struct's fields, each with the JSON that Go writes if the field was never set. Computed once per type. */
function unsetFields(schema: Schema, type: StructType): readonly { field: Field; unset: unknown }[] {
  return schema.derived(type, 'unset fields', () =>
    [...type.byName.values()].map((field) => ({ field, unset: absent(schema, field) })),
  );
}

/** Returns the JSON of a field that was never set, or `undefined` if Go omits the field. */
function absent(schema: Schema, field: Field): unknown {
  const { type, container, isPointer, omitEmpty, omitZero } = field;
  const isNil =
    isPointer || container !== 'none' || type === 'bytes' || (isStructType(type) && schema.type(type).isList);
  if (isNil) return omitEmpty ? undefined : null;
  if (omitZero || (omitEmpty && isScalarType(type))) return undefined;
  return zeroOf(schema, type);
}

/** Whether Go omits a field with this value: an empty list or map, a zero scalar that is not a pointer, or a zero time with `omitzero`. */
function isLeftOut({ type, container, isPointer, omitEmpty, omitZero }: Field, value: unknown): boolean {
  if (isPointer) return false;
  if (container !== 'none') return omitEmpty && Object.keys(value as object).length === 0;
  if (isScalarType(type)) return omitEmpty && value === ZEROS[type];
  return value === null && (omitZero || (omitEmpty && isStructType(type)));
}
