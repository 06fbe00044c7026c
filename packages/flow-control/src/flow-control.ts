import { PodwrightError, pause, raceAbort } from '@podwright/base';
import { type ApiObject, numberAt, textAt } from '@podwright/kube-kinds';
import { CATCH_ALL, mandatoryFlowObjects } from './bootstrap-flows.ts';
import { FairQueues, type Ticket } from './fair-queues.ts';
import type { FlowClass, Level } from './flow-class.ts';
import type { FlowObserver } from './flow-observer.ts';
import type { FlowRequest } from './flow-request.ts';
import { matcherOf } from './flow-rules.ts';
import { RetryAfter } from './retry-after.ts';
import { divideSeats, isExempt, queuesConfig } from './seats.ts';

/** Upstream's total number of concurrent requests: 400 read-only and 200 mutating. */
const DEFAULT_SEATS = 600;

type Schema = {
  name: string;
  uid: string;
  level: string;
  distinguisher: string;
  matches: ReturnType<typeof matcherOf>;
};

/** The server has too many requests and responds with 429 and a `Retry-After` header. */
export class FlowRefused extends PodwrightError {
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super('resource_exhausted', 'Too many requests, please try again later.');
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export type FlowControlOptions = {
  /** Maximum number of concurrently running requests, not counting those of exempt levels. Default: 600. */
  seats?: number;
  /** Returns the time of a monotonic clock in milliseconds. */
  nowMs?: () => number;
  observer?: FlowObserver;
};

/**
 * API priority and fairness. The first FlowSchema that matches a request assigns it to a priority level and a flow. Each priority level has
 * a share of the server's seats. A request that finds no free seat waits in one of its flow's queues or is rejected, depending on its
 * priority level. Mandatory FlowSchemas and levels missing from the configuration are added with their default specs.
 */
export class FlowControl {
  readonly #seats: number;
  readonly #nowMs: () => number;
  readonly #observer: FlowObserver | undefined;
  #levels = new Map<string, Level>();
  /** The FlowSchemas, sorted by precedence and then by name. The first one that matches a request applies. */
  #schemas: readonly Schema[] = [];

  constructor({ seats = DEFAULT_SEATS, nowMs = () => performance.now(), observer }: FlowControlOptions = {}) {
    this.#seats = seats;
    this.#nowMs = nowMs;
    this.#observer = observer;
    this.configure([], []);
  }

  /**
   * Replaces the configuration. Requests of a removed level keep their seats and their places in its queues. A FlowSchema whose level does
   * not exist matches no requests.
   */
  configure(schemas: readonly ApiObject[], levels: readonly ApiObject[]): void {
    const mandatory = mandatoryFlowObjects();
    const all = withMissing(levels, mandatory.levels);
    const seats = divideSeats(all, this.#seats);
    const before = this.#levels;
    this.#levels = new Map(all.map((level) => [nameOf(level), this.#level(level, seats.get(nameOf(level))!)]));
    for (const name of before.keys()) if (!this.#levels.has(name)) this.#observer?.levelRemoved(name);
    this.#schemas = withMissing(schemas, mandatory.schemas)
      .map((schema) => ({ schema, precedence: numberAt(schema, 'spec', 'matchingPrecedence') ?? 0 }))
      .sort((a, b) => a.precedence - b.precedence || (nameOf(a.schema) < nameOf(b.schema) ? -1 : 1))
      .map(({ schema }) => schemaOf(schema))
      .filter(({ level }) => this.#levels.has(level));
  }

  /** Returns the FlowSchema, the priority level and the flow of a request. */
  classify(request: FlowRequest): FlowClass {
    const schema = this.#schemas.find(({ matches }) => matches(request)) ?? this.#catchAll();
    const level = this.#levels.get(schema.level)!;
    const { caller, info } = request;
    const values: Record<string, string> = { ByUser: caller, ByNamespace: info.namespace };
    const flow = `${schema.name}\0${values[schema.distinguisher] ?? ''}`;
    return { schema, level, flow, isExempt: level.queues === undefined };
  }

  /**
   * Waits at most `maxWaitMs` for a free seat, which the request holds until the returned value is disposed. Rejects with `FlowRefused` if
   * the request may not wait or the wait times out, and with the signal's reason if the signal aborts.
   */
  async enter(
    flowClass: FlowClass,
    { maxWaitMs, signal }: { maxWaitMs: number; signal: AbortSignal },
  ): Promise<Disposable> {
    const { queues } = flowClass.level;
    if (queues === undefined) return this.#running(flowClass, () => undefined);
    const { promise, resolve } = Promise.withResolvers<void>();
    const beginMs = this.#nowMs();
    const ticket = queues.enter(flowClass.flow, resolve);
    if (ticket === undefined) {
      this.#observer?.waited(flowClass, 0, false);
      throw this.#refused(flowClass, queues.hasQueues ? 'queue-full' : 'concurrency-limit');
    }
    if (ticket.queue !== undefined) this.#observer?.enqueued(flowClass, ticket.length);
    if (ticket.startMs === undefined) await this.#wait(flowClass, { ticket, started: promise, maxWaitMs, signal });
    this.#observer?.waited(flowClass, (this.#nowMs() - beginMs) / 1000, true);
    return this.#running(flowClass, () => queues.leave(ticket));
  }

  #level(object: ApiObject, seats: number): Level {
    const name = nameOf(object);
    const { uid = '' } = object.metadata;
    this.#observer?.levelConfigured(name, seats);
    const present = this.#levels.get(name);
    const exempt = isExempt(object);
    const config = queuesConfig(object, seats);
    if (present !== undefined && (present.queues === undefined) === exempt) {
      present.uid = uid;
      present.queues?.configure(config);
      return present;
    }
    const queues = exempt ? undefined : new FairQueues(config, this.#nowMs);
    return { name, uid, queues, retryAfter: new RetryAfter() };
  }

  /**
   * Returns the FlowSchema `catch-all`, the fallback for users without groups: the rules of the mandatory FlowSchemas match only groups.
   */
  #catchAll(): Schema {
    return this.#schemas.find(({ name }) => name === CATCH_ALL)!;
  }

  async #wait(
    flowClass: FlowClass,
    waiting: { ticket: Ticket; started: Promise<void>; maxWaitMs: number; signal: AbortSignal },
  ): Promise<void> {
    const { ticket, started, maxWaitMs, signal } = waiting;
    const queues = flowClass.level.queues!;
    const beginMs = this.#nowMs();
    this.#observer?.queued(flowClass, 1);
    const ended = new AbortController();
    // resolves to true if `maxWaitMs` elapsed, to false once the request has a seat, and to the signal's reason if it aborted
    const outcome: unknown = await raceAbort(
      Promise.race([started.then(() => false), pause(maxWaitMs, ended.signal).then(() => true)]),
      signal,
    ).catch((error: unknown) => error);
    ended.abort();
    this.#observer?.queued(flowClass, -1);
    if (outcome === false) return;
    queues.leave(ticket); // if the request has got a seat meanwhile, this frees the seat
    this.#observer?.waited(flowClass, (this.#nowMs() - beginMs) / 1000, false);
    if (outcome !== true) {
      this.#observer?.refused(flowClass, 'cancelled');
      throw outcome;
    }
    throw this.#refused(flowClass, 'time-out');
  }

  #refused(flowClass: FlowClass, reason: string): FlowRefused {
    const { retryAfter } = flowClass.level;
    this.#observer?.refused(flowClass, reason);
    retryAfter.refused(this.#nowMs());
    return new FlowRefused(retryAfter.seconds);
  }

  #running(flowClass: FlowClass, leave: () => void): Disposable {
    const startMs = this.#nowMs();
    this.#observer?.started(flowClass);
    const dispose = () => {
      leave();
      this.#observer?.ended(flowClass, (this.#nowMs() - startMs) / 1000);
    };
    return { [Symbol.dispose]: dispose };
  }
}

const nameOf = ({ metadata }: ApiObject): string => metadata.name ?? '';

function withMissing(objects: readonly ApiObject[], mandatory: readonly ApiObject[]): readonly ApiObject[] {
  const names = new Set(objects.map(nameOf));
  return [...objects, ...mandatory.filter((one) => !names.has(nameOf(one)))];
}

function schemaOf(object: ApiObject): Schema {
  return {
    name: nameOf(object),
    uid: object.metadata.uid ?? '',
    level: textAt(object, 'spec', 'priorityLevelConfiguration', 'name'),
    distinguisher: textAt(object, 'spec', 'distinguisherMethod', 'type'),
    matches: matcherOf(object),
  };
}
