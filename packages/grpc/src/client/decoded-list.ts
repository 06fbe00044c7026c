import { create, type DescMessage, fromBinary, type MessageShape } from '@bufbuild/protobuf';
import { BinaryReader } from '@bufbuild/protobuf/wire';

/**
 * A decoded item: its encoded bytes, the range of its map entries in them, the message, and the number of the last response that contained
 * it.
 */
type Known<E extends DescMessage> = {
  bytes: Buffer;
  maps: { begin: number; end: number };
  item: MessageShape<E>;
  round: number;
};

/** Range of an item's bytes in a response. */
type Range = { begin: number; end: number };

/**
 * Creates a decoder of list responses, for `CallOptions.decode`. An item that is unchanged since the previous response, even at another
 * position, is not decoded again: the decoder returns the same message object. If no item has changed, it returns the same list object,
 * whatever the order of the items. So callers must not modify messages. Items are identified by their ids, which are their first field.
 * Maps, such as labels and annotations, are compared only by their encoded length: a container keeps the maps that it was created with, and
 * Go runtimes encode map entries in a different order each time.
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
  /** Whether all items are unchanged and distinct. Allocates nothing for an unchanged list. */
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

/** The encoded id field (tag, length and value) as text. */
function idAt(bytes: Buffer, { begin, end }: Range): string {
  return bytes.toString('latin1', begin, Math.min(end, begin + 2 + (bytes[begin + 1] ?? 0)));
}

function isSame<E extends DescMessage>({ bytes, maps }: Known<E>, list: Buffer, { begin, end }: Range): boolean {
  const { length } = bytes;
  if (end - begin !== length || list.compare(bytes, 0, maps.begin, begin, begin + maps.begin) !== 0) return false;
  return maps.end === length || list.compare(bytes, maps.end, length, begin + maps.end, end) === 0;
}

/**
 * The range from the first map entry to the last. If the item has no maps, or if another field is between the entries, an empty range at
 * the end.
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

/** The ranges of the elements of a repeated message field. Other fields are skipped. */
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
