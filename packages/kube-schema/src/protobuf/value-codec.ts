import type { WireReader } from './wire-reader.ts';
import type { WireWriter } from './wire-writer.ts';

/** Decodes a message of another type to JSON. */
export type DecodeStruct = (type: string, reader: WireReader) => unknown;

/** The context that an encoder needs besides the value. */
export type EncodeContext = {
  /** The field's name, for errors. */
  name: string;
  /** Encodes a JSON value as the fields of a nested message of the given type. */
  encodeStruct(type: string, value: unknown): void;
};

/** A codec for a message that is a single value in JSON. */
export type ValueCodec = {
  decode(reader: WireReader, decodeStruct: DecodeStruct): unknown;
  /** Writes the message's fields in reverse order. `value` must not be undefined. Throws `invalid_argument`. */
  encode(writer: WireWriter, value: unknown, context: EncodeContext): void;
};
