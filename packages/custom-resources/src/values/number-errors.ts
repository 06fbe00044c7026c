/** Rules for numbers (kube-openapi, validate, numberValidator). */
import { type FieldError, invalidValue } from '@podwright/kube-kinds';
import type { JsonSchema } from '../json-schema.ts';
import { goNumber } from './go-number.ts';

/** The number formats allowed in schemas of custom resources. Others are ignored. */
const FORMATS: Readonly<Record<string, readonly string[]>> = {
  integer: ['int32', 'int64'],
  number: ['float', 'double'],
};

const MAX_FLOAT32 = 3.4028234663852886e38;

/** Returns the number format of the schema, or '' if its format is unset or unknown for its type. */
export function numberFormat({ type = '', format = '' }: JsonSchema): string {
  return Object.hasOwn(FORMATS, type) && FORMATS[type]!.includes(format) ? format : '';
}

export function numberErrors(number: number, schema: JsonSchema, path: string): FieldError[] {
  const { multipleOf, minimum, maximum, exclusiveMinimum = false, exclusiveMaximum = false } = schema;
  const isInteger = Number.isInteger(number);
  const shown = (limit: number) => goNumber(limit, isInteger);
  const say = (problem: string) => invalidValue(path, number, `${path} in body should be ${problem}`);
  const errors = rangeErrors(number, schema, { prefix: 'Checked', path });
  if (multipleOf !== undefined)
    errors.push(
      ...rangeErrors(multipleOf, schema, { prefix: 'MultipleOf', path }),
      ...multipleErrors(number, multipleOf, path),
    );
  if (minimum !== undefined) {
    errors.push(...rangeErrors(minimum, schema, { prefix: 'Minimum boundary', path }));
    if (exclusiveMinimum ? number <= minimum : number < minimum)
      errors.push(say(`greater than ${exclusiveMinimum ? '' : 'or equal to '}${shown(minimum)}`));
  }
  if (maximum !== undefined) {
    errors.push(...rangeErrors(maximum, schema, { prefix: 'Maximum boundary', path }));
    if (exclusiveMaximum ? number >= maximum : number > maximum)
      errors.push(say(`less than ${exclusiveMaximum ? '' : 'or equal to '}${shown(maximum)}`));
  }
  return errors;
}

/** Requires a value or limit to fit the type and format of the schema. The error has no path, as in upstream. */
function rangeErrors(number: number, schema: JsonSchema, { prefix, path }: { prefix: string; path: string }) {
  const { type } = schema;
  const format = numberFormat(schema);
  if (isInRange(number, type, format)) return [];
  const detail = format === '' ? '(default format)' : `with format ${format}`;
  return [invalidValue('<nil>', '', `${prefix} value must be of type ${type} ${detail} in ${path}`)];
}

function isInRange(number: number, type: string | undefined, format: string): boolean {
  if (type !== 'integer') return format !== 'float' || Math.abs(number) <= MAX_FLOAT32;
  if (!Number.isInteger(number)) return false;
  return format === 'int32' ? (number | 0) === number : -(2 ** 63) <= number && number < 2 ** 63;
}

/** Requires a number to be a multiple of `multipleOf`. If the number is an integer, truncates `multipleOf`, as upstream does. */
function multipleErrors(number: number, multipleOf: number, path: string): FieldError[] {
  const isInteger = Number.isInteger(number);
  const factor = isInteger ? Math.trunc(multipleOf) : multipleOf;
  if (factor <= 0)
    return [invalidValue(path, factor, `factor MultipleOf declared for ${path} must be positive: ${factor}`)];
  if (Number.isInteger(number / factor)) return [];
  return [invalidValue(path, number, `${path} in body should be a multiple of ${goNumber(factor, isInteger)}`)];
}
