import { create, type DescMessage, fromBinary, type MessageShape } from '@bufbuild/protobuf';
import { BinaryReader } from '@bufbuild/protobuf/wire';

/**
 * A decoded item: its encoded bytes, the range of its map entries within them, the message, and the number of the last response that
 * contained it.
 */
type Known<E extends DescMessage> = {
  bytes: Buffer;
  maps: { begin: number; end: number };
  item: MessageShape<E>;
  round: number;
};

type Range = { begin: number; end: number };

/**
 * Creates a decoder for list responses, to be passed as `CallOptions.decode`. An item that is unchanged since the previous response, even
 * at another position, is not decoded again: the decoder returns the same message object. If no item has changed, it returns the same list
 * object, whatever the order of the items. Callers must therefore not modify messages. Items are identified by their ID, which is their
 * first field. Maps, such as labels and annotations, are compared only by their encoded length: a container keeps the maps that it was
 * created with, and container runtimes written in Go encode map entries in a different order each time.
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
  let round = 0;
  const itemAt = (bytes: Buffer, range: Range) => {
    const before = last.known.get(idAt(bytes, range));
    return before !== undefined && isSame(before, bytes, range) ? before : undefined;
  };
  /** Whether all items are unchanged and distinct. Allocates nothing if the list is unchanged. */
  const isSameList = (bytes: Buffer, ranges: Range[]) => {
    round++;
    return (
      ranges.length === last.length &&
      ranges.every((range) => {
        const before = itemAt(bytes, range);
        if (before === undefined || before.round === round) return false;
        before.round = round;
        return true;
      })
    );
  };
  const decode = (part: Buffer) => ({
    bytes: Buffer.from(part),
    maps: mapsOf(element, part),
    item: fromBinary(element, part),
    round,
  });
  return (bytes) => {
    const ranges = rangesOf(bytes, number);
    if (isSameList(bytes, ranges)) return last.list;
    const known = new Map<string, Known<E>>();
    const items: MessageShape<E>[] = [];
    for (const range of ranges) {
      const now = itemAt(bytes, range) ?? decode(bytes.subarray(range.begin, range.end));
      known.set(idAt(bytes, range), now);
      items.push(now.item);
    }
    last = { known, length: items.length, list: Object.assign(create(list), { [localName]: items }) };
    return last.list;
  };
}

/** Returns the encoded ID field (tag, length and value) as text. */
function idAt(bytes: Buffer, { begin, end }: Range): string {
  return bytes.toString('latin1', begin, Math.min(end, begin + 2 + (bytes[begin + 1] ?? 0)));
}

function isSame<E extends DescMessage>({ bytes, maps }: Known<E>, list: Buffer, { begin, end }: Range): boolean {
  const { length } = bytes;
  if (end - begin !== length || list.compare(bytes, 0, maps.begin, begin, begin + maps.begin) !== 0) return false;
  return maps.end === length || list.compare(bytes, maps.end, length, begin + maps.end, end) === 0;
}

/**
 * Returns the range from the first to the last map entry in an encoded item. Returns an empty range at the end if the item has no maps, or
 * if another field lies between the entries.
 */
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

/** Returns the ranges of the elements of a repeated message field. Other fields are skipped. */
function rangesOf(bytes: Buffer, field: number): Range[] {
  const ranges: Range[] = [];
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (number !== field) {
      reader.skip(wireType);
      continue;
    }
    const length = reader.uint32();
    const begin = reader.pos;
    reader.pos += length;
    if (reader.pos > reader.len) throw new RangeError('premature EOF');
    ranges.push({ begin, end: reader.pos });
  }
  return ranges;
}
