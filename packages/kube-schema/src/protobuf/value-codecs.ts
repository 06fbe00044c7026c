/** Codecs for Kubernetes messages that JSON represents as a single value. They convert like Go's `MarshalJSON` and `UnmarshalJSON`. */
import type { ValueType } from '../schema/field.ts';
import { formatDuration, formatTimestamp, parseDuration, parseTimestamp } from '../schema/value-text.ts';
import { knownFields } from './known-fields.ts';
import { unfit } from './scalars.ts';
import { schemaOrArray, schemaOrBool, schemaOrStringArray } from './schema-unions.ts';
import type { ValueCodec } from './value-codec.ts';
import { BYTES, malformed, VARINT } from './wire-reader.ts';

const TIMESTAMP = { 1: VARINT, 2: VARINT };

/** `digits`: the number of fractional digits in a time's text. A Time has none; a MicroTime has six. */
const timestamp = (digits: 0 | 6): ValueCodec => ({
  decode: (reader) => {
    const { offset } = reader;
    if (reader.isAtEnd) return null;
    const found = { seconds: 0n, nanos: 0 };
    for (const number of knownFields(reader, TIMESTAMP))
      if (number === 1) found.seconds = reader.int64();
      else found.nanos = reader.int32();
    const text = formatTimestamp(found, digits);
    if (text === undefined) throw malformed(offset, `${found.seconds} seconds since 1970 are no time`);
    return text;
  },
  encode: (writer, value, { name }) => {
    if (value === null) return;
    const found = typeof value === 'string' ? parseTimestamp(value) : undefined;
    if (found === undefined) throw unfit(name, 'time');
    const nanos = digits === 0 ? 0 : found.nanos - (found.nanos % 1000);
    writer.varintField(2, nanos);
    writer.varintField(1, found.seconds);
  },
});

const duration: ValueCodec = {
  decode: (reader) => {
    let nanos = 0n;
    for (const _ of knownFields(reader, { 1: VARINT })) nanos = reader.int64();
    return formatDuration(nanos);
  },
  encode: (writer, value, { name }) => {
    const nanos = typeof value === 'string' ? parseDuration(value) : undefined;
    if (nanos === undefined) throw unfit(name, 'duration');
    writer.varintField(1, nanos);
  },
};

/** A Quantity, as text. Validation, not this codec, checks whether the text is a valid quantity. */
const quantity: ValueCodec = {
  decode: (reader) => {
    let text = '';
    for (const _ of knownFields(reader, { 1: BYTES })) text = reader.string();
    return text === '' ? '0' : text;
  },
  encode: (writer, value, { name }) => {
    if (typeof value !== 'string' && typeof value !== 'number') throw unfit(name, 'quantity');
    writer.stringField(1, String(value));
  },
};

/** IntOrString: the protobuf field `type` is 0 for a number and 1 for a string. */
const intOrString: ValueCodec = {
  decode: (reader) => {
    let [type, integer, text] = [0, 0, ''];
    for (const number of knownFields(reader, { 1: VARINT, 2: VARINT, 3: BYTES }))
      if (number === 1) type = reader.number();
      else if (number === 2) integer = reader.int32();
      else text = reader.string();
    return type === 0 ? integer : text;
  },
  encode: (writer, value, { name }) => {
    if (typeof value !== 'string' && !(typeof value === 'number' && (value | 0) === value))
      throw unfit(name, 'int32 or string');
    const isText = typeof value === 'string';
    writer.stringField(3, isText ? value : '');
    writer.varintField(2, isText ? 0 : value);
    writer.varintField(1, isText ? 1 : 0);
  },
};

/** Arbitrary JSON, stored as bytes. */
const raw: ValueCodec = {
  decode: (reader) => {
    let value: unknown = null;
    for (const _ of knownFields(reader, { 1: BYTES })) {
      const { offset } = reader;
      const text = reader.string();
      try {
        value = text === '' ? null : JSON.parse(text);
      } catch (error) {
        throw malformed(offset, `no JSON: ${(error as Error).message}`);
      }
    }
    return value;
  },
  encode: (writer, value) => {
    if (value !== null) writer.stringField(1, JSON.stringify(value));
  },
};

export const VALUE_CODECS: Readonly<Record<ValueType, ValueCodec>> = {
  time: timestamp(0),
  microTime: timestamp(6),
  duration,
  quantity,
  intOrString,
  rawExtension: raw,
  fieldsV1: raw,
  json: raw,
  schemaOrArray,
  schemaOrBool,
  schemaOrStringArray,
};
