import { PodwrightError, pause, raceAbort } from '@podwright/base';
import { type ApiObject, numberAt, textAt } from '@podwright/kube-kinds';
import { CATCH_ALL, mandatoryFlowObjects } from './bootstrap-flows.ts';
import { borrowSeats } from './borrow-seats.ts';
import { FairQueues } from './fair-queues.ts';
import type { FlowClass, Level } from './flow-class.ts';
import type { FlowObserver } from './flow-observer.ts';
import type { FlowRequest } from './flow-request.ts';
import { matcherOf } from './flow-rules.ts';
import { RetryAfter } from './retry-after.ts';
import { SeatDemand } from './seat-demand.ts';
import { divideSeats, firstSeats, isExempt, queuesConfig, type SeatLimits } from './seats.ts';

/** Upstream's total number of concurrent requests: 400 read-only and 200 mutating. */
const DEFAULT_SEATS = 600;

/** How often seats are lent to other priority levels, as in upstream. */
export const ADJUST_EVERY_MS = 10_000;

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
 * a share of the server's seats, and may lend seats to other levels or borrow from them. A request that finds no free seat waits in one of
 * its flow's queues or is rejected, depending on its priority level. Mandatory FlowSchemas and levels missing from the configuration are
 * added with their default specs.
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
    this.adjustSeats();
  }

  /** Divides the seats among the levels again, by their demand since the last call. Must be called every `ADJUST_EVERY_MS`. */
  adjustSeats(): void {
    const levels = [...this.#levels.values()];
    const demands = levels.map(({ demand }) => demand.summarize());
    const borrowers = levels.map(({ limits, queues, seats }, index) => {
      return { limits, seats, isExempt: queues === undefined, demand: demands[index]! };
    });
    const { adjusted, fraction } = borrowSeats(borrowers);
    for (const [index, level] of levels.entries()) {
      level.seats = adjusted[index]!.seats;
      // as in upstream, a request that needs more seats than its level has runs alone
      level.queues?.configure({ ...level.queuesConfig, seats: Math.max(1, level.seats) });
      this.#observer?.levelAdjusted(level.name, adjusted[index]!, demands[index]!);
    }
    this.#observer?.seatsShared(fraction);
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
    const { queues, demand } = flowClass.level;
    if (queues === undefined) {
      demand.add(1);
      return this.#running(flowClass, () => demand.add(-1));
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const beginMs = this.#nowMs();
    const ticket = queues.enter(flowClass.flow, resolve);
    if (ticket === undefined) {
      this.#observer?.waited(flowClass, 0, false);
      throw this.#refused(flowClass, queues.hasQueues ? 'queue-full' : 'concurrency-limit');
    }
    demand.add(1);
    const leave = () => {
      queues.leave(ticket);
      demand.add(-1);
    };
    if (ticket.queue !== undefined) this.#observer?.enqueued(flowClass, ticket.length);
    if (ticket.startMs === undefined) await this.#wait(flowClass, { leave, started: promise, maxWaitMs, signal });
    this.#observer?.waited(flowClass, (this.#nowMs() - beginMs) / 1000, true);
    return this.#running(flowClass, leave);
  }

  #level(object: ApiObject, limits: SeatLimits): Level {
    const name = nameOf(object);
    const { uid = '' } = object.metadata;
    this.#observer?.levelConfigured(name, limits);
    const present = this.#levels.get(name);
    const exempt = isExempt(object);
    const config = queuesConfig(object);
    if (present !== undefined && (present.queues === undefined) === exempt)
      return Object.assign(present, { uid, limits, queuesConfig: config });
    const seats = firstSeats(limits);
    const queues = exempt ? undefined : new FairQueues({ ...config, seats }, this.#nowMs);
    const measures = { retryAfter: new RetryAfter(), demand: new SeatDemand(this.#nowMs) };
    return { name, uid, queues, ...measures, limits, queuesConfig: config, seats };
  }

  /**
   * Returns the FlowSchema `catch-all`, the fallback for users without groups: the rules of the mandatory FlowSchemas match only groups.
   */
  #catchAll(): Schema {
    return this.#schemas.find(({ name }) => name === CATCH_ALL)!;
  }

  async #wait(
    flowClass: FlowClass,
    waiting: { leave: () => void; started: Promise<void>; maxWaitMs: number; signal: AbortSignal },
  ): Promise<void> {
    const { leave, started, maxWaitMs, signal } = waiting;
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
    leave(); // if the request has got a seat meanwhile, this frees the seat
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
