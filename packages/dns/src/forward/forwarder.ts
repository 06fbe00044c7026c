import { errorMessage, type Logger, PodwrightError, raceAbort } from '@podwright/base';
import { RCODE } from '../wire/numbers.ts';
import { AnswerCache, questionKey, type TimedAnswer } from './answer-cache.ts';
import { askByTcp, askByUdp, type ExchangeOptions, FORGED, type ForwardedQuestion } from './exchange.ts';
import { ATTEMPT_TIMEOUTS_MS } from './limits.ts';
import { LoopProbes } from './loop-probes.ts';
import { type Endpoint, type Resolver, Resolvers } from './resolvers.ts';
import type { UpstreamAnswer } from './upstream-answer.ts';
import { WaitingClients } from './waiting-clients.ts';

export type ForwarderOptions = {
  path: string;
  own: readonly Endpoint[];
  logger: Logger;
  resolverPort?: number;
  /** Timeouts of the attempts, for tests. Default: `ATTEMPT_TIMEOUTS_MS`. */
  timeoutsMs?: readonly number[];
};

/** An in-flight question, and how many clients are waiting for its answer. It is canceled when no clients are left. */
type Pending = { answer: Promise<TimedAnswer>; waiting: number; cancel: AbortController };

/** Answers questions by asking the resolvers in a resolv.conf(5), with a cache. */
export class Forwarder {
  readonly #logger: Logger;
  readonly #timeoutsMs: readonly number[];
  readonly #resolvers: Resolvers;
  readonly #probes: LoopProbes;
  readonly #cache = new AnswerCache();
  readonly #pending = new Map<string, Pending>();
  readonly #closed = new AbortController();
  readonly #waiting = new WaitingClients();

  constructor({ timeoutsMs = ATTEMPT_TIMEOUTS_MS, ...options }: ForwarderOptions) {
    this.#logger = options.logger;
    this.#timeoutsMs = timeoutsMs;
    this.#probes = new LoopProbes((resolver) => this.#resolvers.loops(resolver));
    this.#resolvers = new Resolvers({ ...options, onNew: (resolver) => this.#probe(resolver) });
  }

  /** Reads the list of resolvers, and probes them for forwarding loops back to this server. Never rejects. */
  async open(): Promise<void> {
    await this.#resolvers.usable();
  }

  /** Cancels in-flight queries. */
  close(): void {
    this.#closed.abort();
    for (const { cancel } of this.#pending.values()) cancel.abort();
  }

  cached(question: ForwardedQuestion): TimedAnswer | undefined {
    return this.#cache.get(question);
  }

  ageSeconds(answer: TimedAnswer): number {
    return this.#cache.ageSeconds(answer);
  }

  /**
   * Asks the resolvers. Throws `resource_exhausted` if too many questions are in flight, and `unavailable` or `deadline_exceeded` if no
   * resolver answers or none is configured.
   */
  async resolve(question: ForwardedQuestion, client: string): Promise<TimedAnswer> {
    const cached = this.#cache.get(question);
    if (cached !== undefined) return cached;
    if (this.#probes.isProbe(question)) throw new PodwrightError('unavailable', 'the question came back by a loop');
    using place = this.#waiting.enter(client);
    return await this.#shared(question, place.refused);
  }

  /** Shares a single query among all clients that ask the same question. */
  async #shared(question: ForwardedQuestion, refused: AbortSignal): Promise<TimedAnswer> {
    const key = questionKey(question);
    const pending = this.#pending.get(key) ?? this.#start(question, key);
    pending.waiting++;
    try {
      return await raceAbort(pending.answer, refused);
    } finally {
      if (--pending.waiting === 0) {
        pending.cancel.abort();
        this.#forget(key, pending);
      }
    }
  }

  #start(question: ForwardedQuestion, key: string): Pending {
    const cancel = new AbortController();
    if (this.#closed.signal.aborted) cancel.abort();
    const answer = this.#ask(question, cancel.signal).then((found) => this.#cache.add(question, found));
    const pending = { answer, waiting: 0, cancel };
    this.#pending.set(key, pending);
    const forget = () => this.#forget(key, pending);
    void answer.then(forget, forget);
    return pending;
  }

  #forget(key: string, pending: Pending): void {
    if (this.#pending.get(key) === pending) this.#pending.delete(key);
  }

  /** Tries one resolver after another. An error response is returned only if no other resolver answers. */
  async #ask(question: ForwardedQuestion, signal: AbortSignal): Promise<UpstreamAnswer> {
    let refusal: UpstreamAnswer | undefined;
    let failure: unknown = new PodwrightError('unavailable', 'no resolver is known');
    const resolvers = await this.#resolvers.usable();
    for (const [attempt, timeoutMs] of this.#timeoutsMs.entries()) {
      const resolver = resolvers[attempt % Math.max(1, resolvers.length)];
      if (resolver === undefined || (refusal !== undefined && attempt >= resolvers.length)) break;
      try {
        const answer = await askOne(question, { endpoint: resolver, timeoutMs, withEdns: true, signal });
        this.#resolvers.answered(resolver);
        if (answer.rcode === RCODE.NOERROR || answer.rcode === RCODE.NXDOMAIN) return answer;
        refusal = answer;
      } catch (error) {
        if (signal.aborted) throw error;
        failure = error;
        this.#resolvers.failed(resolver, error);
        this.#probe(resolver); // a loop that was closed later looks like a resolver that does not answer
      }
    }
    if (refusal !== undefined) return refusal;
    this.#logger.debug({ name: question.name, error: errorMessage(failure) }, 'no resolver answered');
    throw failure;
  }

  #probe(resolver: Resolver): void {
    const question = this.#probes.next(resolver);
    if (question === undefined) return;
    const options = {
      endpoint: resolver,
      timeoutMs: this.#timeoutsMs[0]!,
      withEdns: false,
      signal: this.#closed.signal,
    };
    askByUdp(question, options).then(
      () => this.#probes.done(question),
      () => this.#probes.done(question), // only whether the question comes back matters
    );
  }
}

/**
 * Asks a resolver over UDP, falling back to TCP if its response is truncated or spoofing is suspected. A resolver without EDNS support is
 * asked again without it (RFC 6891, section 7). The timeout applies to all exchanges together.
 */
async function askOne(question: ForwardedQuestion, options: ExchangeOptions): Promise<UpstreamAnswer> {
  const endMs = performance.now() + options.timeoutMs;
  const answer = await askByUdp(question, options);
  const rest = { ...options, timeoutMs: endMs - performance.now() };
  if (answer === FORGED || answer.isTruncated) return askByTcp(question, rest);
  const knowsNoEdns = answer.rcode === RCODE.FORMERR || answer.rcode === RCODE.NOTIMP;
  return options.withEdns && knowsNoEdns ? askOne(question, { ...rest, withEdns: false }) : answer;
}
