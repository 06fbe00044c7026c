import type { WireReader } from './wire-reader.ts';
import type { WireWriter } from './wire-writer.ts';

/** Decodes a nested message of the given type to JSON. */
export type DecodeStruct = (type: string, reader: WireReader) => unknown;

/** An encoder's input besides the value to encode. */
export type EncodeContext = {
  /** The field's name, for error messages. */
  name: string;
  /** Encodes a JSON value as the fields of a nested message of the given type. */
  encodeStruct(type: string, value: unknown): void;
};

/** A codec for a message that JSON represents as a single value. */
export type ValueCodec = {
  decode(reader: WireReader, decodeStruct: DecodeStruct): unknown;
  /**
   * Writes the message's fields in reverse order. `value` must not be `undefined`. Throws `invalid_argument` if `value` has the wrong type.
   */
  encode(writer: WireWriter, value: unknown, context: EncodeContext): void;
};
