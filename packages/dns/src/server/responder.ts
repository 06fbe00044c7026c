/** Answers individual queries. */
import { randomInt } from 'node:crypto';
import { errorCode, errorMessage, type Logger } from '@podwright/base';
import { aliasRecords } from '../forward/alias-records.ts';
import type { ForwardedQuestion } from '../forward/exchange.ts';
import type { Forwarder } from '../forward/forwarder.ts';
import { MAX_TTL_SECONDS } from '../forward/limits.ts';
import { MessageWriter } from '../wire/message-writer.ts';
import {
  CLASS_IN,
  FLAG,
  MAX_MESSAGE_BYTES,
  MAX_UDP_BYTES,
  MIN_UDP_BYTES,
  OPT_BYTES,
  RCODE,
  TYPE,
} from '../wire/numbers.ts';
import { optRecord } from '../wire/opt-record.ts';
import { type Query, type RefusedQuery, readQuery } from '../wire/read-query.ts';
import { type Answer, answer } from '../zone/answer.ts';
import type { ClusterRecords } from '../zone/cluster-records.ts';
import type { ClientNetworks } from './client-networks.ts';
import { forwardedReply } from './forwarded-reply.ts';

/** The source of a query. */
export type Origin = { address: string; isTcp: boolean };

/** The bytes to send, or `undefined` if no reply may be sent. The promise never rejects. */
export type Reply = Buffer | undefined | Promise<Buffer>;

export type ResponderOptions = {
  records: ClusterRecords;
  forwarder: Forwarder;
  clients: ClientNetworks;
  logger: Logger;
};

type Asked = { query: Query; request: Buffer; origin: Origin };

/** Size of the smallest cluster record: a compressed name and an IPv4 address. */
const MIN_RECORD_BYTES = 16;

/** Maximum number of cluster records in a TCP reply. More would fit, but a reply should take less than a millisecond. */
const MAX_RECORDS = 512;

/** Upper bound of the random numbers used to rotate addresses. */
const MAX_TURN = 1 << 16;

export class Responder {
  readonly #options: ResponderOptions;
  readonly #writer = new MessageWriter();

  constructor(options: ResponderOptions) {
    this.#options = options;
  }

  reply(request: Buffer, origin: Origin): Reply {
    const query = readQuery(request);
    if (query === undefined) return undefined;
    if (query.question === undefined) return this.#refusal(query, query.rcode);
    try {
      return this.#replyTo({ query, request, origin });
    } catch (error) {
      // a bug must not crash the process, because it serves the whole cluster
      this.#options.logger.error({ name: query.question.name, error: errorMessage(error) }, 'answer a query failed');
      return this.#refusal(query, RCODE.SERVFAIL);
    }
  }

  #replyTo(asked: Asked): Reply {
    const { query, origin } = asked;
    if (!this.#options.clients.has(origin.address)) return this.#refusal(query, RCODE.REFUSED);
    if (query.edns !== undefined && query.edns.version > 0) return this.#refusal(query, RCODE.BADVERS);
    if (query.question.class !== CLASS_IN) return this.#refusal(query, RCODE.REFUSED);
    const fitting = Math.ceil(maxBytes(query, origin) / MIN_RECORD_BYTES);
    const limit = Math.min(MAX_RECORDS, fitting);
    const found = answer(query.question, this.#options.records, { turn: randomInt(MAX_TURN), limit });
    if (found === undefined) return this.#forwarded(asked);
    return found.alias === undefined ? this.#answered(asked, found) : this.#aliased(asked, found);
  }

  #answered({ query, origin }: Asked, found: Answer): Buffer {
    const writer = this.#writer;
    const optBytes = query.edns === undefined ? 0 : OPT_BYTES;
    const flags = FLAG.authoritative | replyFlags(query) | found.rcode;
    writer.begin(query.id, flags, maxBytes(query, origin) - optBytes);
    writer.question(query.question);
    const isWhole =
      found.answers.every((record) => writer.record('answer', record)) &&
      found.authorities.every((record) => writer.record('authority', record));
    if (isWhole) found.additionals.every((record) => writer.record('additional', record));
    else writer.setFlags(flags | FLAG.truncated);
    if (query.edns !== undefined)
      writer.encoded('additional', optRecord({ highCode: 0, dnssecOk: query.edns.dnssecOk }));
    return writer.bytes();
  }

  /** Resolves an alias to a name outside the cluster and adds its addresses, because stub resolvers do not do that themselves. */
  async #aliased(asked: Asked, found: Answer): Promise<Buffer> {
    const { query, origin } = asked;
    const { type } = query.question;
    if (type !== TYPE.A && type !== TYPE.AAAA) return this.#answered(asked, found);
    try {
      const question = { ...forwardedQuestion(query), name: found.alias!, dnssecOk: false };
      const { answer: rest } = await this.#options.forwarder.resolve(question, origin.address);
      const answers = [...found.answers, ...aliasRecords(rest, MAX_TTL_SECONDS)];
      return this.#answered(asked, { ...found, rcode: rest.rcode & 0xf, answers });
    } catch (error) {
      return this.#refusal(query, failureCode(error));
    }
  }

  #forwarded(asked: Asked): Reply {
    const { query, request, origin } = asked;
    const { type } = query.question;
    const wantsRecursion = (query.flags & FLAG.recursionDesired) !== 0;
    if (!wantsRecursion || type === TYPE.AXFR || type === TYPE.IXFR) return this.#refusal(query, RCODE.REFUSED);
    const { forwarder } = this.#options;
    const question = forwardedQuestion(query);
    const place = { query, request, maxBytes: maxBytes(query, origin) };
    const cached = forwarder.cached(question);
    if (cached !== undefined) return forwardedReply(cached, forwarder.ageSeconds(cached), place);
    return forwarder
      .resolve(question, origin.address)
      .then((found) => forwardedReply(found, forwarder.ageSeconds(found), place))
      .catch((error: unknown) => this.#refusal(query, failureCode(error)));
  }

  /** Returns a reply without records: only the response code, and the question if it could be parsed. */
  #refusal(query: Query | RefusedQuery, rcode: number): Buffer {
    const opcode = query.flags & 0x7800;
    this.#writer.begin(query.id, opcode | replyFlags(query) | (rcode & 0xf));
    if (query.question === undefined) return this.#writer.bytes();
    this.#writer.question(query.question);
    if (query.edns !== undefined)
      this.#writer.encoded('additional', optRecord({ highCode: rcode >> 4, dnssecOk: query.edns.dnssecOk }));
    return this.#writer.bytes();
  }
}

function replyFlags({ flags }: Pick<Query, 'flags'>): number {
  return FLAG.response | FLAG.recursionAvailable | (flags & (FLAG.recursionDesired | FLAG.checkingDisabled));
}

function maxBytes({ edns }: Query, { isTcp }: Origin): number {
  if (isTcp) return MAX_MESSAGE_BYTES;
  return Math.min(MAX_UDP_BYTES, Math.max(MIN_UDP_BYTES, edns?.sizeBytes ?? 0));
}

function forwardedQuestion({ question, flags, edns }: Query): ForwardedQuestion {
  const checkingDisabled = (flags & FLAG.checkingDisabled) !== 0;
  return { ...question, dnssecOk: edns?.dnssecOk ?? false, checkingDisabled };
}

/**
 * Returns the response code for a query that failed. As in CoreDNS, this is REFUSED if too many questions are waiting, so that clients try
 * another server.
 */
function failureCode(error: unknown): number {
  return errorCode(error) === 'resource_exhausted' ? RCODE.REFUSED : RCODE.SERVFAIL;
}
