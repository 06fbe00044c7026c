/** Converts protobuf scalars to and from JSON values. */
import { PodwrightError } from '@podwright/base';
import type { ScalarType } from '../schema/field.ts';
import { BYTES, FIXED64, malformed, VARINT, type WireReader } from './wire-reader.ts';
import type { WireWriter } from './wire-writer.ts';

export const WIRE_TYPES: Readonly<Record<ScalarType, number>> = {
  string: BYTES,
  bytes: BYTES,
  bool: VARINT,
  int32: VARINT,
  int64: VARINT,
  double: FIXED64,
};

/** Reads a scalar. Integers beyond 2^53 are rounded, because JSON values are JavaScript numbers. */
export function readScalar(reader: WireReader, type: ScalarType): unknown {
  switch (type) {
    case 'string':
      return reader.string();
    case 'bytes':
      return reader.bytes().toString('base64');
    case 'bool':
      return reader.number() !== 0;
    case 'int32':
      return reader.int32();
    case 'int64':
      return Number(reader.int64());
    case 'double':
      return readDouble(reader);
  }
}

function readDouble(reader: WireReader): number {
  const { offset } = reader;
  const value = reader.double();
  if (!Number.isFinite(value)) throw malformed(offset, `JSON cannot have ${value}`);
  return value;
}

/**
 * Writes a scalar field. Throws `invalid_argument` if the value does not have the field's type. `name` is the field's name in that error.
 */
export function writeScalar(writer: WireWriter, { number, type, name }: ScalarField, value: unknown): void {
  if (type === 'bool' && typeof value === 'boolean') writer.varintField(number, value ? 1 : 0);
  else if (type === 'string' && typeof value === 'string') writer.stringField(number, value);
  else if (type === 'bytes' && typeof value === 'string') writer.bytesField(number, Buffer.from(value, 'base64'));
  else if (type === 'double' && typeof value === 'number') writer.doubleField(number, value);
  else if (isInteger(value, type)) writer.varintField(number, value);
  else throw unfit(name, type);
}

type ScalarField = { number: number; type: ScalarType; name: string };

function isInteger(value: unknown, type: ScalarType): value is number {
  const limit = type === 'int32' ? 2 ** 31 : type === 'int64' ? 2 ** 63 : 0;
  return typeof value === 'number' && Number.isInteger(value) && value >= -limit && value < limit;
}

/** Returns the error for a JSON value that does not match its field's type. */
export function unfit(name: string, type: string): PodwrightError {
  return new PodwrightError('invalid_argument', `encode protobuf: ${name} is no ${type}`);
}
