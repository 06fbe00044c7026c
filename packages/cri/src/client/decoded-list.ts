import { create, type DescMessage, fromBinary, type MessageShape } from '@bufbuild/protobuf';
import { BinaryReader } from '@bufbuild/protobuf/wire';

/**
 * Decodes responses that are lists, for `CallOptions.decode`: an item that was in the last response already, at any place, is not
 * decoded again, but is the same message. Nobody may change it. Items are told apart by their ids, which are their first field.
 */
export function decodedList<L extends DescMessage, E extends DescMessage>({
  list,
  element,
}: {
  list: L;
  element: E;
}): (bytes: Buffer) => MessageShape<L> {
  const { number, localName } = list.fields.find(({ message }) => message === element)!;
  type Known = { bytes: Buffer; item: MessageShape<E> };
  let last = new Map<string, Known>();
  const decode = (part: Buffer): Known => ({ bytes: Buffer.from(part), item: fromBinary(element, part) });
  return (bytes) => {
    const known = new Map<string, Known>();
    const items: MessageShape<E>[] = [];
    for (const part of partsOf(bytes, number)) {
      const id = part.toString('latin1', 0, 2 + (part[1] ?? 0)); // behind its number and its length
      const before = last.get(id);
      const now = before?.bytes.equals(part) ? before : decode(part);
      known.set(id, now);
      items.push(now.item);
    }
    last = known;
    return Object.assign(create(list), { [localName]: items });
  };
}

/** The values of a field that is a list of messages; other fields are skipped. */
function* partsOf(bytes: Buffer, field: number): Generator<Buffer> {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (number === field) yield reader.bytes() as Buffer;
    else reader.skip(wireType);
  }
}
