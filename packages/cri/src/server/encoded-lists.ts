import {
  create,
  type DescField,
  type DescMessage,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

/** An item of a repeated field as it stands on the wire: its length and its bytes. */
export type EncodedItem = Uint8Array;

/**
 * Makes of each record the item that a list shows, once: the bytes are kept for as long as the record is. So a list of what
 * didn't change since the last one costs little. For records that are replaced, never changed.
 */
export function encodeOnce<R extends object, D extends DescMessage>(
  schema: D,
  convert: (record: R) => MessageInitShape<D>,
): (record: R) => EncodedItem {
  const known = new WeakMap<R, EncodedItem>();
  return (record) => {
    const found = known.get(record);
    if (found !== undefined) return found;
    const item = new BinaryWriter().bytes(toBinary(schema, create(schema, convert(record)))).finish();
    known.set(record, item);
    return item;
  };
}

/**
 * A response with these items in its repeated field `field`. They stand in the message as fields that it doesn't know, which are
 * written as they are: it is for sending, the field itself reads as empty.
 */
export function listResponse<D extends DescMessage>(
  schema: D,
  field: DescField,
  items: EncodedItem[],
): MessageShape<D> {
  const response = create(schema);
  response.$unknown = items.map((data) => ({ no: field.number, wireType: WireType.LengthDelimited, data }));
  return response;
}
