import { encodeObject, type JsonObject, PROTOBUF_MEDIA_TYPE, type Schema } from '@podwright/kube-schema';
import type { OutputFormat } from './negotiation.ts';

/** A response body: `parts` are concatenated. They must not be modified, because they may share memory with stored objects. */
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

/**
 * YAML longer than this is written as JSON, because the YAML library takes about a second per megabyte. JSON is valid YAML as long as its
 * field names are shorter than 1,024 characters; only names in managed fields can be longer.
 */
const MAX_YAML = 32 << 10;

/** Characters that need no escape in JSON but do in YAML. */
const UNPRINTABLE = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** Serializes a value as YAML. Few clients request YAML, so the YAML library is loaded on first use. */
export async function yamlText(value: unknown): Promise<string> {
  const json = JSON.stringify(value);
  if (json.length > MAX_YAML) return `${json.replaceAll(UNPRINTABLE, escaped)}\n`;
  const { stringify } = await import('yaml');
  return stringify(value, {
    sortMapEntries: true,
    indentSeq: false,
    lineWidth: 0,
    aliasDuplicateObjects: false,
    compat: 'yaml-1.1',
  });
}

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
