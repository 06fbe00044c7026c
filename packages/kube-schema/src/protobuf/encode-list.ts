import type { JsonObject } from '../json.ts';
import type { Schema } from '../schema/schema.ts';
import { MAGIC, typeOf, writeKind } from './object-codec.ts';
import { StructEncoder } from './struct-encoder.ts';
import { WireWriter } from './wire-writer.ts';

/** The number of the field `items` in the message of each list. In the envelope, the object has the same number. */
const ITEMS = 2;
const OBJECT = 2;

/** Encodes an object as an element of a list that `listFrame` begins. Throws the same errors as `encodeObject`. */
export function encodeListItem(schema: Schema, object: JsonObject): Uint8Array {
  const { type } = typeOf(schema, object);
  const writer = new WireWriter();
  writer.messageField(ITEMS, () => new StructEncoder(schema, writer).struct(type, object));
  return writer.finish();
}

/**
 * Returns what precedes and what follows the items of an encoded list, so that a long list need not be in memory as a whole. `list` is the
 * list without items, and `itemsBytes` the sum of the lengths of all items (`encodeListItem`). Throws the same errors as `encodeObject`.
 */
export function listFrame(
  schema: Schema,
  list: JsonObject,
  itemsBytes: number,
): { begin: Uint8Array; end: Uint8Array } {
  const { type, ...named } = typeOf(schema, list);
  const writer = new WireWriter();
  new StructEncoder(schema, writer).struct(type, list);
  writer.endMessage(OBJECT, -itemsBytes);
  writeKind(writer, named);
  const rest = new WireWriter();
  rest.stringField(4, '');
  rest.stringField(3, '');
  return { begin: Buffer.concat([MAGIC, writer.finish()]), end: rest.finish() };
}
