import { malformed, type WireReader } from './wire-reader.ts';

/**
 * Yields a message's field numbers in order of appearance. The caller must read each field's value before it advances the iterator. Fields
 * that are not in `wireTypes` are skipped, as protobuf requires for unknown fields.
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
