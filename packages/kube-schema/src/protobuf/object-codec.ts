import { PodwrightError } from '@podwright/base';
import type { JsonObject } from '../json.ts';
import type { StructType } from '../schema/field.ts';
import type { Schema } from '../schema/schema.ts';
import { knownFields } from './known-fields.ts';
import type { DecodeLimits } from './limits.ts';
import { StructDecoder } from './struct-decoder.ts';
import { StructEncoder } from './struct-encoder.ts';
import { BYTES, malformed, WireReader } from './wire-reader.ts';
import { WireWriter } from './wire-writer.ts';

/** `k8s\0`: the first bytes of every protobuf-encoded object (k8s.io/apimachinery, runtime/serializer/protobuf). */
export const MAGIC = Buffer.from('k8s\0');

/** The media type of protobuf-encoded objects. */
export const PROTOBUF_MEDIA_TYPE = 'application/vnd.kubernetes.protobuf';

/** The kind implied by a request's path, for objects that do not name their own kind. */
export type DefaultKind = { apiVersion: string; kind: string };

/** Whether the bytes start like a protobuf-encoded object. */
export const isProtobufObject = (bytes: Uint8Array): boolean => MAGIC.equals(bytes.subarray(0, MAGIC.length));

/**
 * Decodes an object of a built-in kind to JSON. `kind` and `apiVersion` are taken from the object, or from `fallback` if it does not name
 * them. Throws `invalid_argument` for malformed bytes and `not_found` for unknown kinds.
 */
export function decodeObject(
  schema: Schema,
  bytes: Uint8Array,
  options: DecodeLimits & { fallback?: DefaultKind } = {},
): JsonObject {
  if (!isProtobufObject(bytes)) throw malformed(0, 'the bytes do not begin with "k8s" and a zero');
  const { apiVersion, kind, raw } = readUnknown(WireReader.of(bytes, MAGIC.length));
  const named = {
    apiVersion: apiVersion || (options.fallback?.apiVersion ?? ''),
    kind: kind || (options.fallback?.kind ?? ''),
  };
  const type = schema.kindOf(named);
  if (type === undefined) throw unknownKind('decode', named);
  const content = new StructDecoder(schema, options).struct(type, raw ?? WireReader.of(new Uint8Array()));
  return type.isObject ? { ...named, ...(content as JsonObject) } : (content as JsonObject);
}

type Unknown = { apiVersion: string; kind: string; raw: WireReader | undefined };

/**
 * Reads the envelope, a runtime.Unknown message. Its fields are 1 (the type), 2 (the object), 3 (the encoding) and 4 (the media type);
 * clients do not set the last two.
 */
function readUnknown(reader: WireReader): Unknown {
  const found: Unknown = { apiVersion: '', kind: '', raw: undefined };
  for (const number of knownFields(reader, { 1: BYTES, 2: BYTES })) {
    const message = reader.message();
    if (number === 2) found.raw = message;
    else
      for (const part of knownFields(message, { 1: BYTES, 2: BYTES }))
        if (part === 1) found.apiVersion = message.string();
        else found.kind = message.string();
  }
  return found;
}

/** Encodes an object of a built-in kind. Throws `invalid_argument` for values of the wrong type and `not_found` for unknown kinds. */
export function encodeObject(schema: Schema, object: JsonObject): Uint8Array {
  const { type, ...named } = typeOf(schema, object);
  const writer = new WireWriter();
  writer.stringField(4, '');
  writer.stringField(3, '');
  writer.messageField(2, () => new StructEncoder(schema, writer).struct(type, object));
  writeKind(writer, named);
  return Buffer.concat([MAGIC, writer.finish()]);
}

/** Returns the kind specified by an object, and its type. Throws `not_found` for unknown kinds. */
export function typeOf(schema: Schema, { apiVersion, kind }: JsonObject): DefaultKind & { type: StructType } {
  const named = {
    apiVersion: typeof apiVersion === 'string' ? apiVersion : '',
    kind: typeof kind === 'string' ? kind : '',
  };
  const type = schema.kindOf(named);
  if (type === undefined) throw unknownKind('encode', named);
  return { ...named, type };
}

/** Writes the envelope field that specifies the object's kind. */
export function writeKind(writer: WireWriter, { apiVersion, kind }: DefaultKind): void {
  writer.messageField(1, () => {
    writer.stringField(2, kind);
    writer.stringField(1, apiVersion);
  });
}

function unknownKind(verb: string, { apiVersion, kind }: DefaultKind): PodwrightError {
  const shown = JSON.stringify([apiVersion.slice(0, 100), kind.slice(0, 100)]);
  return new PodwrightError('not_found', `${verb} protobuf: ${shown} is no built-in kind`);
}
