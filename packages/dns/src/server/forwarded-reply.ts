import type { TimedAnswer } from '../forward/answer-cache.ts';
import { saneTtl } from '../forward/upstream-answer.ts';
import { FLAG, HEADER_BYTES, OPT_BYTES } from '../wire/numbers.ts';
import { optRecord } from '../wire/opt-record.ts';
import type { Query } from '../wire/read-query.ts';

export type ReplyPlace = { query: Query; request: Buffer; maxBytes: number };

const COUNT_OFFSETS = { answer: 6, authority: 8, additional: 10 } as const;

/**
 * Builds the reply to a client from a resolver's response, with the client's ID, the client's spelling of the name, and the remaining TTLs.
 * Records that do not fit are omitted; if any of them are not additional records, the truncation flag is set (RFC 2181, section 9).
 */
export function forwardedReply(
  { answer, lifetimeSeconds }: TimedAnswer,
  ageSeconds: number,
  { query, request, maxBytes }: ReplyPlace,
): Buffer {
  const optBytes = query.edns === undefined ? 0 : OPT_BYTES;
  const fitting = answer.records.filter(({ end }) => end + optBytes <= maxBytes);
  const size = fitting.at(-1)?.end ?? answer.questionEnd;
  const reply = Buffer.allocUnsafe(size + optBytes);
  answer.message.copy(reply, 0, 0, size);
  request.copy(reply, HEADER_BYTES, HEADER_BYTES, query.questionEnd);
  reply.writeUInt16BE(query.id, 0);
  const isCut =
    answer.isTruncated || answer.records.slice(fitting.length).some(({ section }) => section !== 'additional');
  reply.writeUInt16BE(replyFlags(query, answer.flags) | (isCut ? FLAG.truncated : 0) | (answer.rcode & 0xf), 2);
  for (const section of ['answer', 'authority', 'additional'] as const)
    reply.writeUInt16BE(fitting.filter((record) => record.section === section).length, COUNT_OFFSETS[section]);
  for (const { ttl, ttlOffset } of fitting) {
    const bound = lifetimeSeconds > 0 ? Math.min(saneTtl(ttl), lifetimeSeconds) : saneTtl(ttl);
    reply.writeUInt32BE(Math.max(0, bound - ageSeconds), ttlOffset);
  }
  if (query.edns !== undefined) {
    optRecord({ highCode: answer.rcode >> 4, dnssecOk: query.edns.dnssecOk }).copy(reply, size);
    reply.writeUInt16BE(reply.readUInt16BE(COUNT_OFFSETS.additional) + 1, COUNT_OFFSETS.additional);
  }
  return reply;
}

/** Returns the client's own flags and, if the client asks for it, whether the resolver has validated the answer (RFC 6840, section 5.8). */
function replyFlags({ flags, edns }: Query, upstream: number): number {
  const wantsAuthentic = edns?.dnssecOk === true || (flags & FLAG.authenticData) !== 0;
  const own = flags & (FLAG.recursionDesired | FLAG.checkingDisabled);
  return FLAG.response | FLAG.recursionAvailable | own | (wantsAuthentic ? upstream & FLAG.authenticData : 0);
}
