/**
 * Error messages for values of the wrong type in patched objects, as in apimachinery's conversion of maps to structs
 * (runtime/converter.go).
 */
import type { ScalarType } from '../schema/field.ts';

/** The expected type of a value. `goType` is its name in Go. */
export type Expected = { type: 'struct' | 'list' | 'map' | ScalarType; goType: string };

/** Returns the error message for a value that cannot be converted, such as `cannot restore map from string`. */
export function conversionError(value: unknown, { type, goType }: Expected): string {
  const kind = goKind(value);
  if (type === 'struct') return `cannot restore struct from: ${kind}`;
  if (type === 'map') return `cannot restore map from ${kind}`;
  if (type === 'list' || type === 'bytes') return `cannot restore slice from ${kind}`;
  return isConvertible(kind, type)
    ? `cannot convert ${kind} to ${goType}`
    : `unrecognized type: ${type === 'double' ? 'float64' : type}`;
}

/** Whether apimachinery's converter accepts a value of this Go kind for the type, although Go's JSON decoder would reject it. */
const isConvertible = (kind: string, type: Exclude<ScalarType, 'bytes'>): boolean =>
  type === 'string' ? kind === 'int64' : type !== 'bool' && kind === 'float64';

function goKind(value: unknown): string {
  if (Array.isArray(value)) return 'slice';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'boolean' ? 'bool' : typeof value === 'object' ? 'map' : typeof value;
}
