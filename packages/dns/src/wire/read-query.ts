/** Parses client queries. */
import { readRecords, type SkippedRecord } from './message-records.ts';
import { malformed, readName } from './names.ts';
import { FLAG, HEADER_BYTES, OPCODE_QUERY, RCODE, TYPE } from './numbers.ts';

/** A DNS question. `name` is spelled as in the client's query. */
export type Question = { name: string; type: number; class: number };

/** What a client advertised through EDNS (RFC 6891). */
export type Edns = { sizeBytes: number; version: number; dnssecOk: boolean };

export type Query = {
  id: number;
  /** The flags: the second 16-bit word of the DNS header. */
  flags: number;
  question: Question;
  /** The offset of the first byte after the question. */
  questionEnd: number;
  edns: Edns | undefined;
};

/** A query without an answerable question, and the response code for it. */
export type RefusedQuery = { id: number; flags: number; rcode: number; question?: undefined };

/**
 * Parses a query. Returns `undefined` if the bytes are not a query, in which case no reply may be sent: replying to a response could cause
 * an endless exchange.
 */
export function readQuery(message: Buffer): Query | RefusedQuery | undefined {
  if (message.length < HEADER_BYTES) return undefined;
  const id = message.readUInt16BE(0);
  const flags = message.readUInt16BE(2);
  if ((flags & FLAG.response) !== 0) return undefined;
  if (opcodeOf(flags) !== OPCODE_QUERY) return { id, flags, rcode: RCODE.NOTIMP };
  // a query with more than one question has no defined answer (RFC 9619)
  if (message.readUInt16BE(4) !== 1) return { id, flags, rcode: RCODE.FORMERR };
  try {
    return { id, flags, ...readQuestion(message) };
  } catch {
    return { id, flags, rcode: RCODE.FORMERR };
  }
}

function readQuestion(message: Buffer): Pick<Query, 'question' | 'questionEnd' | 'edns'> {
  const { name, end } = readName(message, HEADER_BYTES);
  const questionEnd = end + 4;
  if (questionEnd > message.length) throw malformed('the question ends early');
  const question = { name, type: message.readUInt16BE(end), class: message.readUInt16BE(end + 2) };
  if (questionEnd === message.length && message.readUInt32BE(6) === 0 && message.readUInt16BE(10) === 0)
    return { question, questionEnd, edns: undefined };
  const options = readRecords(message, questionEnd).filter(({ type }) => type === TYPE.OPT);
  if (options.length > 1) throw malformed('the query has several OPT records');
  return { question, questionEnd, edns: options[0] && ednsOf(options[0]) };
}

function ednsOf({ class: sizeBytes, ttl }: SkippedRecord): Edns {
  return { sizeBytes, version: (ttl >>> 16) & 0xff, dnssecOk: (ttl & 0x8000) !== 0 };
}

const opcodeOf = (flags: number): number => (flags >> 11) & 0xf;
