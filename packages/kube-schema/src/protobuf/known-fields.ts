import { malformed, type WireReader } from './wire-reader.ts';

/**
 * Yields the numbers of a message's fields in their order; the caller reads the value of each at once. Fields that `wireTypes` does not
 * name are skipped, as by all clients of protobuf.
 */
export function* knownFields(reader: WireReader, wireTypes: Readonly<Record<number, number>>): Generator<number> {
  while (!reader.isAtEnd) {
    const { offset } = reader;
    const tag = reader.tag();
    const expected = wireTypes[tag.number];
    if (expected === undefined) reader.skip(tag);
    else if (expected === tag.wireType) yield tag.number;
    else throw malformed(offset, `field ${tag.number} has the wire type ${tag.wireType} instead of ${expected}`);
  }
}
