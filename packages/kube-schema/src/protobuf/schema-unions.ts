/** Parts of a custom resource schema that, in JSON, are either a schema or something else (apiextensions/v1, marshal.go). */
import { isJsonObject } from '../json.ts';
import { knownFields } from './known-fields.ts';
import { unfit } from './scalars.ts';
import type { ValueCodec } from './value-codec.ts';
import { BYTES, VARINT } from './wire-reader.ts';

const SCHEMA = 'apiextensions.v1.JSONSchemaProps';

export const schemaOrBool: ValueCodec = {
  decode: (reader, decodeStruct) => {
    let [allows, schema]: [boolean, unknown] = [false, undefined];
    for (const number of knownFields(reader, { 1: VARINT, 2: BYTES }))
      if (number === 1) allows = reader.number() !== 0;
      else schema = decodeStruct(SCHEMA, reader.message());
    return schema ?? allows;
  },
  encode: (writer, value, { name, encodeStruct }) => {
    if (isJsonObject(value)) writer.messageField(2, () => encodeStruct(SCHEMA, value));
    else if (typeof value !== 'boolean') throw unfit(name, 'boolean or JSON schema');
    writer.varintField(1, value === false ? 0 : 1);
  },
};

export const schemaOrArray: ValueCodec = {
  decode: (reader, decodeStruct) => {
    let schema: unknown = null;
    const schemas: unknown[] = [];
    for (const number of knownFields(reader, { 1: BYTES, 2: BYTES })) {
      const found = decodeStruct(SCHEMA, reader.message());
      if (number === 1) schema = found;
      else schemas.push(found);
    }
    return schemas.length > 0 ? schemas : schema;
  },
  encode: (writer, value, { encodeStruct }) => {
    // like Go, ignore values that are neither a list nor an object
    const schemas = Array.isArray(value) ? value : [];
    for (const one of schemas.toReversed()) writer.messageField(2, () => encodeStruct(SCHEMA, one));
    if (isJsonObject(value)) writer.messageField(1, () => encodeStruct(SCHEMA, value));
  },
};

export const schemaOrStringArray: ValueCodec = {
  decode: (reader, decodeStruct) => {
    let schema: unknown = null;
    const names: string[] = [];
    for (const number of knownFields(reader, { 1: BYTES, 2: BYTES }))
      if (number === 1) schema = decodeStruct(SCHEMA, reader.message());
      else names.push(reader.string());
    return names.length > 0 ? names : schema;
  },
  encode: (writer, value, { name, encodeStruct }) => {
    const names = Array.isArray(value) ? value : [];
    for (const one of names.toReversed()) {
      if (typeof one !== 'string') throw unfit(name, 'list of strings');
      writer.stringField(2, one);
    }
    if (isJsonObject(value)) writer.messageField(1, () => encodeStruct(SCHEMA, value));
  },
};
