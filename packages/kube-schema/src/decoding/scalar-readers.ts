/** Decodes values of Go's scalar types. Errors are collected, and decoding continues. */
import type { ScalarType } from '../schema/field.ts';
import type { Context, Problems } from './problems.ts';

/**
 * Decodes a scalar. If the value has a different type, adds an error to `problems` and returns `undefined`. `goType` is the type name used
 * in that error.
 */
export function readScalar(
  value: unknown,
  type: ScalarType,
  { goType, context, problems }: { goType: string; context: Context; problems: Problems },
): unknown {
  switch (type) {
    case 'string':
      if (typeof value === 'string') return value;
      break;
    case 'bool':
      if (typeof value === 'boolean') return value;
      break;
    case 'double':
      if (typeof value === 'number') return value;
      break;
    case 'bytes':
      if (typeof value === 'string') return readBytes(value, problems);
      break;
    default:
      if (typeof value !== 'number') break;
      if (fits(value, type)) return value;
      problems.wrongNumber(value, { type, goType }, context);
      return undefined;
  }
  problems.wrongType(value, { type, goType }, context);
  return undefined;
}

function fits(value: number, type: 'int32' | 'int64'): boolean {
  const limit = type === 'int32' ? 2 ** 31 : 2 ** 63;
  return Number.isInteger(value) && value >= -limit && value < limit;
}

/** Decodes padded base64 that may contain line breaks, and re-encodes it without line breaks, as Go does. */
function readBytes(text: string, problems: Problems): string | undefined {
  const joined = text.replaceAll(/[\r\n]/g, '');
  const wrong = /[^A-Za-z0-9+/]/.exec(joined.replace(/={1,2}$/, ''));
  if (wrong === null && joined.length % 4 === 0) return Buffer.from(joined, 'base64').toString('base64');
  problems.wrongBytes(`illegal base64 data at input byte ${wrong?.index ?? joined.length - (joined.length % 4)}`);
  return undefined;
}
