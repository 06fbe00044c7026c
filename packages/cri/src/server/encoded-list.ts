import { create, type DescMessage, type MessageInitShape, type MessageShape, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, type WireType } from '@bufbuild/protobuf/wire';
import { withPrefix } from '../message-reader.ts';

/** LEN of the wire format (protobuf.dev, "Encoding"). */
const LENGTH_DELIMITED: WireType.LengthDelimited = 2;

/** Where a response is as it is sent that is encoded already. */
const SENT = Symbol('sent');

/** A response of `encodedList` as it is sent; nothing of another one. */
export function sentBytes(response: object): Buffer | undefined {
  return (response as { [SENT]?: Buffer })[SENT];
}

/**
 * Makes responses that are lists: of each record the message `element` that `convert` makes of it. It is encoded once for each record,
 * which must be a value that never changes, and the response once for each list: who asks again before something has changed gets the
 * same. It is sent as one with the messages would be, and has nothing else.
 */
export function encodedList<R extends object, L extends DescMessage, E extends DescMessage>(
  { list, element }: { list: L; element: E },
  convert: (record: R) => MessageInitShape<E>,
): (records: R[]) => MessageShape<L> {
  const { number } = list.fields.find(({ message }) => message === element)!;
  const known = new WeakMap<R, Uint8Array>();
  const encode = (record: R) => {
    const item = toBinary(element, create(element, convert(record)));
    const bytes = new BinaryWriter().tag(number, LENGTH_DELIMITED).bytes(item).finish();
    known.set(record, bytes);
    return bytes;
  };
  const respond = (records: R[]) => {
    const message = Buffer.concat(records.map((record) => known.get(record) ?? encode(record)));
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
