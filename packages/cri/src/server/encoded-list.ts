import { create, type DescMessage, type MessageInitShape, type MessageShape, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, type WireType } from '@bufbuild/protobuf/wire';

/** LEN of the wire format (protobuf.dev, "Encoding"). */
const LENGTH_DELIMITED: WireType.LengthDelimited = 2;

/**
 * Makes responses that are lists: of each record the message `element` that `convert` makes of it. It is encoded once for each record,
 * which must be a value that never changes. Only the encoded response has the messages, as fields that are written as they are; its
 * bytes are those of a response with the messages themselves.
 */
export function encodedList<R extends object, L extends DescMessage, E extends DescMessage>(
  { list, element }: { list: L; element: E },
  convert: (record: R) => MessageInitShape<E>,
): (records: R[]) => MessageShape<L> {
  const { number: no } = list.fields.find(({ message }) => message === element)!;
  const known = new WeakMap<R, Uint8Array>();
  const encode = (record: R) => {
    const data = new BinaryWriter().bytes(toBinary(element, create(element, convert(record)))).finish();
    known.set(record, data);
    return data;
  };
  return (records) => {
    const response = create(list);
    response.$unknown = records.map((record) => {
      return { no, wireType: LENGTH_DELIMITED, data: known.get(record) ?? encode(record) };
    });
    return response;
  };
}
