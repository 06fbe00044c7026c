import type { Section } from './message-writer.ts';
import { malformed, skipName } from './names.ts';

/** A record whose data was not read. Offsets are those of the message. */
export type SkippedRecord = {
  section: Exclude<Section, 'question'>;
  start: number;
  type: number;
  class: number;
  ttl: number;
  ttlOffset: number;
  dataOffset: number;
  end: number;
};

const SECTIONS = [
  ['answer', 6],
  ['authority', 8],
  ['additional', 10],
] as const;

/** Bytes of a record after its name: type, class, TTL, length of the data. */
const FIXED_BYTES = 10;

/**
 * Reads the records from `offset`, the end of the question, to the end of the message. The work is at most proportional to the size of the
 * message, whatever its counts say. Throws `invalid_argument` if a record is not whole, or bytes remain.
 */
export function readRecords(message: Buffer, offset: number): SkippedRecord[] {
  const records: SkippedRecord[] = [];
  let at = offset;
  for (const [section, countOffset] of SECTIONS) {
    for (let left = message.readUInt16BE(countOffset); left > 0; left--) {
      const record = readRecord(message, at, section);
      records.push(record);
      at = record.end;
    }
  }
  if (at !== message.length) throw malformed('the message has bytes after its last record');
  return records;
}

function readRecord(message: Buffer, start: number, section: SkippedRecord['section']): SkippedRecord {
  const at = skipName(message, start);
  const dataOffset = at + FIXED_BYTES;
  if (dataOffset > message.length) throw malformed('a record ends early');
  const end = dataOffset + message.readUInt16BE(at + 8);
  if (end > message.length) throw malformed('a record ends early');
  return {
    section,
    start,
    type: message.readUInt16BE(at),
    class: message.readUInt16BE(at + 2),
    ttl: message.readUInt32BE(at + 4),
    ttlOffset: at + 4,
    dataOffset,
    end,
  };
}
