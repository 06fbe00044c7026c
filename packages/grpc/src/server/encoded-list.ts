import { create, type DescMessage, type MessageInitShape, type MessageShape, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, type WireType } from '@bufbuild/protobuf/wire';
import { withPrefix } from '../message-reader.ts';

/** The LEN wire type (protobuf.dev, "Encoding"). */
const LENGTH_DELIMITED: WireType.LengthDelimited = 2;

/** Key of the property that holds a response's encoded bytes. */
const SENT = Symbol('sent');

/** Returns the encoded bytes of a response built by `encodedList`, or `undefined` for any other response. */
export function sentBytes(response: object): Buffer | undefined {
  return (response as { [SENT]?: Buffer })[SENT];
}

/**
 * Creates a function that builds list responses. `convert` turns each record into a message of type `element`. Each record is encoded only
 * once, so records must be immutable. If the records are the same as in the previous call, the same response is returned. A response holds
 * only encoded bytes; its fields are empty.
 */
export function encodedList<R extends object, L extends DescMessage, E extends DescMessage>(
  { list, element }: { list: L; element: E },
  convert: (record: R) => MessageInitShape<E>,
): (records: R[]) => MessageShape<L> {
  const { number } = list.fields.find(({ message }) => message === element)!;
  const encoded = new WeakMap<R, Uint8Array>();
  const encode = (record: R) => {
    const item = toBinary(element, create(element, convert(record)));
    const bytes = new BinaryWriter().tag(number, LENGTH_DELIMITED).bytes(item).finish();
    encoded.set(record, bytes);
    return bytes;
  };
  const respond = (records: R[]) => {
    const message = Buffer.concat(records.map((record) => encoded.get(record) ?? encode(record)));
    return Object.assign(create(list), { [SENT]: withPrefix(message) });
  };
  let last: { records: R[]; response: MessageShape<L> } | undefined;
  return (records) => {
    if (last === undefined || !isSame(last.records, records)) last = { records, response: respond(records) };
    return last.response;
  };
}

function isSame(some: object[], others: object[]): boolean {
  return some.length === others.length && some.every((one, index) => one === others[index]);
}
