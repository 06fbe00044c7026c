import { create, type DescMessage, fromBinary, type MessageShape } from '@bufbuild/protobuf';
import { BinaryReader } from '@bufbuild/protobuf/wire';

/** An item as it came, where in it the entries of its maps are, and what it says. */
type Known<E extends DescMessage> = { bytes: Buffer; maps: { begin: number; end: number }; item: MessageShape<E> };

/**
 * Decodes responses that are lists, for `CallOptions.decode`: an item that was in the last response already, at any place, is not
 * decoded again, but is the same message, and so is a list of the same items in whatever order. Nobody may change them. Items are
 * told apart by their ids, which are their first field; maps, as labels and annotations, are what an item was made with, and only
 * looked at for their length: Go's runtimes write their entries in another order each time.
 */
export function decodedList<L extends DescMessage, E extends DescMessage>({
  list,
  element,
}: {
  list: L;
  element: E;
}): (bytes: Buffer) => MessageShape<L> {
  const { number, localName } = list.fields.find(({ message }) => message === element)!;
  let last = { known: new Map<string, Known<E>>(), length: 0, list: create(list) };
  const decode = (part: Buffer) => ({
    bytes: Buffer.from(part),
    maps: mapsOf(element, part),
    item: fromBinary(element, part),
  });
  return (bytes) => {
    const known = new Map<string, Known<E>>();
    const items: MessageShape<E>[] = [];
    let isNew = false;
    for (const part of partsOf(bytes, number)) {
      const id = part.toString('latin1', 0, 2 + (part[1] ?? 0)); // behind its number and its length
      const before = last.known.get(id);
      const now = before !== undefined && isSame(before, part) ? before : decode(part);
      isNew ||= now !== before || known.has(id);
      known.set(id, now);
      items.push(now.item);
    }
    const { length } = items;
    if (isNew || length !== last.length)
      last = { known, length, list: Object.assign(create(list), { [localName]: items }) };
    return last.list;
  };
}

function isSame<E extends DescMessage>({ bytes, maps: { begin, end } }: Known<E>, part: Buffer): boolean {
  const { length } = part;
  if (length !== bytes.length || part.compare(bytes, 0, begin, 0, begin) !== 0) return false;
  return end === length || part.compare(bytes, end, length, end, length) === 0;
}

/** From the first entry of a map to the last one; nothing, at the end, of an item without maps or with something between them. */
function mapsOf({ fields }: DescMessage, bytes: Buffer): Known<DescMessage>['maps'] {
  const numbers = new Set(fields.filter(({ fieldKind }) => fieldKind === 'map').map(({ number }) => number));
  const none = { begin: bytes.length, end: bytes.length };
  let found = none;
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const at = reader.pos;
    const [number, wireType] = reader.tag();
    reader.skip(wireType);
    if (!numbers.has(number)) continue;
    if (found !== none && found.end !== at) return none;
    found = { begin: Math.min(found.begin, at), end: reader.pos };
  }
  return found;
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
