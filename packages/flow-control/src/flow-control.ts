import { PodwrightError, pause, raceAbort } from '@podwright/base';
import { type ApiObject, numberAt, textAt } from '@podwright/kube-kinds';
import { CATCH_ALL, mandatoryFlows } from './bootstrap-flows.ts';
import { FairQueues, type Ticket } from './fair-queues.ts';
import type { FlowClass, Level } from './flow-class.ts';
import type { FlowObserver } from './flow-observer.ts';
import type { FlowRequest } from './flow-request.ts';
import { matcherOf } from './flow-rules.ts';
import { RetryAfter } from './retry-after.ts';
import { divideSeats, isExempt, queuesConfig } from './seats.ts';

/** Upstream's number of concurrent requests of all levels: 400 that read, and 200 that write. */
const DEFAULT_SEATS = 600;

type Schema = {
  name: string;
  uid: string;
  level: string;
  distinguisher: string;
  matches: ReturnType<typeof matcherOf>;
};

/** The server has too many requests. */
export class FlowRefused extends PodwrightError {
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super('resource_exhausted', 'Too many requests, please try again later.');
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export type FlowControlOptions = {
  /** Maximum number of requests that run at a time, those of exempt levels aside. Default: 600. */
  seats?: number;
  /** Milliseconds of a monotonic clock. */
  nowMs?: () => number;
  observer?: FlowObserver;
};

/**
 * API priority and fairness: FlowSchemas assign each request to a priority level, which has a share of the seats, and to a flow. If no seat
 * is free, requests wait in queues by flow. Without configuration, the mandatory objects apply.
 */
export class FlowControl {
  readonly #seats: number;
  readonly #nowMs: () => number;
  readonly #observer: FlowObserver | undefined;
  #levels = new Map<string, Level>();
  /** In the order in which they are tried. */
  #schemas: readonly Schema[] = [];

  constructor({ seats = DEFAULT_SEATS, nowMs = () => performance.now(), observer }: FlowControlOptions = {}) {
    this.#seats = seats;
    this.#nowMs = nowMs;
    this.#observer = observer;
    this.configure([], []);
  }

  /**
   * Replaces the configuration. Requests that wait in a level that there is no longer go on to wait in it. FlowSchemas without a level
   * match nothing.
   */
  configure(schemas: readonly ApiObject[], levels: readonly ApiObject[]): void {
    const mandatory = mandatoryFlows();
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

  /** Returns where a request belongs. */
  classify(request: FlowRequest): FlowClass {
    const schema = this.#schemas.find(({ matches }) => matches(request)) ?? this.#catchAll();
    const level = this.#levels.get(schema.level)!;
    const { caller, info } = request;
    const values: Record<string, string> = { ByUser: caller, ByNamespace: info.namespace };
    const flow = `${schema.name}\0${values[schema.distinguisher] ?? ''}`;
    return { schema, level, flow, isExempt: level.queues === undefined };
  }

  /**
   * Gives a request a seat until the returned value is disposed. Waits up to `maxWaitMs` for it. Rejects with `FlowRefused` if too many
   * requests wait, or after that time, and with the signal's reason.
   */
  async enter(one: FlowClass, { maxWaitMs, signal }: { maxWaitMs: number; signal: AbortSignal }): Promise<Disposable> {
    const { queues } = one.level;
    if (queues === undefined) return this.#running(one, () => undefined);
    const { promise, resolve } = Promise.withResolvers<void>();
    const beginMs = this.#nowMs();
    const ticket = queues.enter(one.flow, resolve);
    if (ticket === undefined) {
      this.#observer?.waited(one, 0, false);
      throw this.#refused(one, queues.hasQueues ? 'queue-full' : 'concurrency-limit');
    }
    if (ticket.queue !== undefined) this.#observer?.enqueued(one, ticket.length);
    if (ticket.startMs === undefined) await this.#wait(one, { ticket, started: promise, maxWaitMs, signal });
    this.#observer?.waited(one, (this.#nowMs() - beginMs) / 1000, true);
    return this.#running(one, () => queues.leave(ticket));
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

  /** For a user in no group. All others match the mandatory schemas. */
  #catchAll(): Schema {
    return this.#schemas.find(({ name }) => name === CATCH_ALL)!;
  }

  async #wait(
    one: FlowClass,
    waiting: { ticket: Ticket; started: Promise<void>; maxWaitMs: number; signal: AbortSignal },
  ): Promise<void> {
    const { ticket, started, maxWaitMs, signal } = waiting;
    const queues = one.level.queues!;
    const beginMs = this.#nowMs();
    this.#observer?.queued(one, 1);
    const ended = new AbortController();
    const isLate = await raceAbort(
      Promise.race([started.then(() => false), pause(maxWaitMs, ended.signal).then(() => true)]),
      signal,
    ).catch((error: unknown) => error);
    ended.abort();
    this.#observer?.queued(one, -1);
    if (isLate === false) return;
    queues.leave(ticket); // also if a seat became free at the same time
    this.#observer?.waited(one, (this.#nowMs() - beginMs) / 1000, false);
    if (isLate !== true) {
      this.#observer?.refused(one, 'cancelled');
      throw isLate;
    }
    throw this.#refused(one, 'time-out');
  }

  #refused(one: FlowClass, reason: string): FlowRefused {
    const { retryAfter } = one.level;
    this.#observer?.refused(one, reason);
    retryAfter.refused(this.#nowMs());
    return new FlowRefused(retryAfter.seconds);
  }

  #running(one: FlowClass, leave: () => void): Disposable {
    const startMs = this.#nowMs();
    this.#observer?.started(one);
    const dispose = () => {
      leave();
      this.#observer?.ended(one, (this.#nowMs() - startMs) / 1000);
    };
    return { [Symbol.dispose]: dispose };
  }
}

const nameOf = ({ metadata }: ApiObject): string => metadata.name ?? '';

/** Adds the mandatory objects that do not exist. */
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
