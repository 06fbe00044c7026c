import type { Section } from './message-writer.ts';
import { malformed, skipName } from './names.ts';

/** A record whose data has not been parsed. Offsets are relative to the start of the message. */
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

/** Size of a record's fixed fields, which follow its name: type, class, TTL and data length. */
const FIXED_BYTES = 10;

/**
 * Parses the records from `offset`, the end of the question, to the end of the message. Takes time proportional to the size of the message,
 * no matter what its record counts claim. Throws `invalid_argument` if a record is incomplete or bytes are left over.
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
