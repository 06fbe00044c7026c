import type { JsonObject } from '../json.ts';
import type { Schema } from '../schema/schema.ts';
import { MAGIC, typeOf, writeKind } from './object-codec.ts';
import { StructEncoder } from './struct-encoder.ts';
import { WireWriter } from './wire-writer.ts';

/** Field number of `items` in all list messages. `OBJECT`: field number of the object in the envelope (runtime.Unknown). */
const ITEMS = 2;
const OBJECT = 2;

/** Encodes an object as an item of a list started with `listFrame`. Throws the same errors as `encodeObject`. */
export function encodeListItem(schema: Schema, object: JsonObject): Uint8Array {
  const { type } = typeOf(schema, object);
  const writer = new WireWriter();
  writer.messageField(ITEMS, () => new StructEncoder(schema, writer).struct(type, object));
  return writer.finish();
}

/**
 * Returns the bytes before and after the items of an encoded list, so that a long list need not be in memory as a whole. `list`: the list
 * without items. `itemsBytes`: the total length of all items (`encodeListItem`). Throws the same errors as `encodeObject`.
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
