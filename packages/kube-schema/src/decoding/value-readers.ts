/**
 * Structs that JSON represents as a single value. They are decoded like Go's `UnmarshalJSON` does and encoded like its `MarshalJSON`.
 * Errors end decoding immediately.
 */
import { isJsonObject } from '../json.ts';
import type { ValueType } from '../schema/field.ts';
import { formatDuration, formatTimestamp, parseDuration, parseTimestamp } from '../schema/value-text.ts';
import { timeProblem } from './go-time.ts';
import { type Context, decodeError, targetText, wrongTypeError } from './problems.ts';
import { canonicalQuantity, QUANTITY_ERROR } from './quantity-text.ts';

/** Decodes a custom resource schema that is nested in another value. */
export type ReadSchema = (value: unknown) => unknown;

type ValueReader = (value: unknown, context: Context, readSchema: ReadSchema) => unknown;

const time =
  (type: 'time' | 'microTime'): ValueReader =>
  (value, context) => {
    if (typeof value !== 'string') throw wrongTypeError(value, 'string', context);
    const problem = timeProblem(value, type);
    if (problem !== undefined) throw decodeError(problem);
    const found = parseTimestamp(value);
    const text = found && formatTimestamp(found, type === 'time' ? 0 : 6);
    if (text === undefined) throw decodeError(`parsing time ${JSON.stringify(value)}: day out of range`);
    return text;
  };

const duration: ValueReader = (value, context) => {
  if (typeof value !== 'string') throw wrongTypeError(value, 'string', context);
  const nanos = parseDuration(value);
  if (nanos === undefined) throw decodeError(`time: invalid duration ${JSON.stringify(value)}`);
  return formatDuration(nanos);
};

const quantity: ValueReader = (value) => {
  const text = typeof value === 'string' ? canonicalQuantity(value.trim()) : undefined;
  const canonical = typeof value === 'number' ? canonicalQuantity(String(value)) : text;
  if (canonical === undefined) throw decodeError(QUANTITY_ERROR);
  return canonical;
};

const intOrString: ValueReader = (value, context) => {
  if (typeof value === 'string') return value;
  if (typeof value !== 'number') throw wrongTypeError(value, 'int32', context);
  if ((value | 0) === value) return value;
  throw decodeError(`json: cannot unmarshal number ${value} into Go ${targetText(context)} of type int32`);
};

const anyJson: ValueReader = (value) => value;

const schemaOrBool: ValueReader = (value, _context, readSchema) => {
  if (typeof value === 'boolean') return value;
  if (!isJsonObject(value)) throw decodeError('boolean or JSON schema expected');
  return readSchema(value);
};

/** JSONSchemaPropsOrArray. Like Go, ignores values that are neither an object nor a list, such as strings. */
const schemaOrArray: ValueReader = (value, _context, readSchema) => {
  if (isJsonObject(value)) return readSchema(value);
  return Array.isArray(value) && value.length > 0 ? value.map(readSchema) : null;
};

const schemaOrStringArray: ValueReader = (value, context, readSchema) => {
  if (isJsonObject(value)) return readSchema(value);
  if (!Array.isArray(value) || value.length === 0) return null;
  const wrong = value.find((one) => typeof one !== 'string' && one !== null);
  if (wrong !== undefined) throw wrongTypeError(wrong, 'string', context);
  return value.map((one) => one ?? '');
};

export const VALUE_READERS: Readonly<Record<ValueType, ValueReader>> = {
  time: time('time'),
  microTime: time('microTime'),
  duration,
  quantity,
  intOrString,
  rawExtension: anyJson,
  fieldsV1: anyJson,
  json: anyJson,
  schemaOrArray,
  schemaOrBool,
  schemaOrStringArray,
};
