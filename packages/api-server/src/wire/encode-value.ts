import { encodeObject, type JsonObject, PROTOBUF_MEDIA_TYPE, type Schema } from '@podwright/kube-schema';
import type { OutputFormat } from './negotiation.ts';

/** A response body. Its parts must not be modified, because they may share memory with stored objects. */
export type Body = { contentType: string; parts: readonly Uint8Array[] };

export const NEWLINE = Buffer.from('\n');

/** Encodes an object of a built-in kind, a Table or a Status. */
export async function encodeValue(
  value: JsonObject,
  { mediaType, isPretty }: OutputFormat,
  schema: Schema,
): Promise<Body> {
  if (mediaType === PROTOBUF_MEDIA_TYPE) return { contentType: mediaType, parts: [encodeObject(schema, value)] };
  const text = mediaType === 'application/yaml' ? await yamlText(value) : jsonText(value, isPretty);
  return { contentType: mediaType, parts: [Buffer.from(text)] };
}

/** Serializes a value as JSON. Like Go, ends compact JSON with a newline, but not indented JSON. */
export const jsonText = (value: unknown, isPretty: boolean): string =>
  isPretty ? JSON.stringify(value, null, 2) : `${JSON.stringify(value)}\n`;

/** The YAML library is loaded on first use, because few clients request YAML. */
async function yamlText(value: JsonObject): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify(value, {
    sortMapEntries: true,
    indentSeq: false,
    lineWidth: 0,
    aliasDuplicateObjects: false,
    compat: 'yaml-1.1',
  });
}
