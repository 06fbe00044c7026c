import type { WireReader } from './wire-reader.ts';
import type { WireWriter } from './wire-writer.ts';

/** Decodes a message of another type, as JSON. */
export type DecodeStruct = (type: string, reader: WireReader) => unknown;

/** What an encoder needs besides the value. */
export type EncodeContext = {
  /** The field's name, for errors. */
  name: string;
  /** Encodes a JSON value as the content of a message of another type. */
  encodeStruct(type: string, value: unknown): void;
};

/** A message that is one value in JSON. */
export type ValueCodec = {
  decode(reader: WireReader, decodeStruct: DecodeStruct): unknown;
  /** Writes the message's fields in reverse order; `value` is not undefined. Throws `invalid_argument`. */
  encode(writer: WireWriter, value: unknown, context: EncodeContext): void;
};
