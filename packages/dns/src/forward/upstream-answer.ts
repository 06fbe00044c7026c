import { readRecords, type SkippedRecord } from '../wire/message-records.ts';
import { lowered, malformed, readName, skipName } from '../wire/names.ts';
import { FLAG, HEADER_BYTES, RCODE, TYPE } from '../wire/numbers.ts';
import type { Question } from '../wire/read-query.ts';
import { MAX_TTL_SECONDS, MIN_TTL_SECONDS } from './limits.ts';

/** A resolver's response, without its OPT record. */
export type UpstreamAnswer = {
  message: Buffer;
  /** The flags: the second 16-bit word of the DNS header. */
  flags: number;
  rcode: number;
  isTruncated: boolean;
  questionEnd: number;
  records: readonly SkippedRecord[];
};

/** The ID and question of a query that was sent to a resolver. */
export type Asked = { id: number; question: Question };

/**
 * Parses a resolver's response. Returns `undefined` for a message that does not match the query, because the real response might still
 * follow. Throws `invalid_argument` if the message matches but is malformed.
 */
export function readAnswer(message: Buffer, asked: Asked): UpstreamAnswer | undefined {
  if (message.length < HEADER_BYTES || message.readUInt16BE(0) !== asked.id) return undefined;
  const flags = message.readUInt16BE(2);
  if ((flags & FLAG.response) === 0) return undefined;
  if (isBareError(message, flags)) return bareError(message, flags);
  if (message.readUInt16BE(4) !== 1) return undefined;
  const questionEnd = matchQuestion(message, asked.question);
  if (questionEnd === undefined) return undefined;
  const isTruncated = (flags & FLAG.truncated) !== 0;
  const all = isTruncated ? [] : readRecords(message, questionEnd);
  const option = all.find(({ type }) => type === TYPE.OPT);
  const highCode = option === undefined ? 0 : option.ttl >>> 24;
  return {
    ...withoutOptions(message, questionEnd, all),
    flags,
    rcode: (highCode << 4) | (flags & 0xf),
    isTruncated,
    questionEnd,
  };
}

/** Whether a resolver has answered a query that it cannot parse or does not implement, such as one with EDNS, without repeating the question. */
const isBareError = (message: Buffer, flags: number): boolean =>
  message.readUInt16BE(4) === 0 && [RCODE.FORMERR, RCODE.NOTIMP].some((code) => code === (flags & 0xf));

const bareError = (message: Buffer, flags: number): UpstreamAnswer => ({
  message: message.subarray(0, HEADER_BYTES),
  flags,
  rcode: flags & 0xf,
  isTruncated: false,
  questionEnd: HEADER_BYTES,
  records: [],
});

function matchQuestion(message: Buffer, { name, type, class: klass }: Question): number | undefined {
  try {
    const read = readName(message, HEADER_BYTES);
    const isSame = lowered(read.name) === lowered(name) && read.end + 4 <= message.length;
    if (!isSame || message.readUInt16BE(read.end) !== type || message.readUInt16BE(read.end + 2) !== klass)
      return undefined;
    return read.end + 4;
  } catch {
    return undefined;
  }
}

/** Truncates the message before its OPT record, which is hop-by-hop. The additional records after it are not needed. */
function withoutOptions(
  message: Buffer,
  questionEnd: number,
  all: readonly SkippedRecord[],
): Pick<UpstreamAnswer, 'message' | 'records'> {
  const first = all.findIndex(({ type }) => type === TYPE.OPT);
  if (first >= 0 && all[first]!.section !== 'additional') throw malformed('the OPT record is in the wrong section');
  const records = first < 0 ? all : all.slice(0, first);
  return { message: message.subarray(0, records.at(-1)?.end ?? questionEnd), records };
}

/** Returns how many seconds a response may be used; 0 if it must not be cached (RFC 2308; bounds as in CoreDNS). */
export function lifetimeSeconds({ rcode, isTruncated, records, message }: UpstreamAnswer): number {
  if (isTruncated) return 0;
  if (rcode === RCODE.SERVFAIL) return MIN_TTL_SECONDS;
  if (rcode !== RCODE.NOERROR && rcode !== RCODE.NXDOMAIN) return 0;
  const hasAnswer = rcode === RCODE.NOERROR && records.some(({ section }) => section === 'answer');
  const authority = records.find(({ section, type }) => section === 'authority' && type === TYPE.SOA);
  if (!hasAnswer && authority === undefined) return 0;
  const ttls = records.map((record) => saneTtl(record.ttl));
  if (!hasAnswer) ttls.push(minimumOf(message, authority!));
  return Math.min(MAX_TTL_SECONDS, Math.max(MIN_TTL_SECONDS, Math.min(...ttls)));
}

/** A TTL with the most significant bit set counts as 0 (RFC 2181, section 8). */
export const saneTtl = (ttl: number): number => (ttl > 0x7fff_ffff ? 0 : ttl);

/** Returns the MINIMUM field of a SOA record. */
function minimumOf(message: Buffer, { dataOffset, end }: SkippedRecord): number {
  const numbers = skipName(message, skipName(message, dataOffset));
  return numbers + 20 === end ? saneTtl(message.readUInt32BE(end - 4)) : 0;
}
