import { tooManyRequests } from '@podwright/api-machinery';
import { pause, raceAbort } from '@podwright/base';
import { MASTERS, type UserInfo } from '@podwright/kube-kinds';
import { callerOf, NODES } from '../authorization/known-users.ts';

export type InFlightLimits = {
  /** Maximum number of concurrent requests of all callers of a level. */
  total: number;
  /** Maximum number of concurrent requests of a caller. */
  requests: number;
  /** Maximum number of requests of a caller that wait until one of these ends. */
  waiting: number;
  /** Maximum number of a caller's watches, logs and other requests without a timeout. They do not wait, and are not part of the total. */
  longRunning: number;
};

/** The total is that of upstream. */
const DEFAULT_LIMITS: InFlightLimits = { total: 600, requests: 200, waiting: 200, longRunning: 2000 };

/** How long a request may wait: a quarter of the time limit of requests, as in upstream. */
const MAX_WAIT_MS = 15_000;

/**
 * Bounds the requests in flight. This is a simple form of upstream's priority and fairness, with three levels: administrators, who are not
 * limited, so that they can intervene when others overload the server; nodes, whose heartbeats must not wait for other users; and all others.
 */
export class InFlight {
  readonly #nodes: Level;
  readonly #others: Level;

  constructor(limits = DEFAULT_LIMITS) {
    this.#nodes = new Level(limits);
    this.#others = new Level(limits);
  }

  /**
   * Counts a request as in flight until the returned value is disposed. Waits if too many are in flight. Throws 429 if too many wait, or
   * after some time, and the signal's reason.
   */
  async enter(
    { username, groups }: UserInfo,
    request: { isLongRunning: boolean; signal: AbortSignal },
  ): Promise<Disposable> {
    if (groups.includes(MASTERS)) return { [Symbol.dispose]: () => undefined };
    const level = groups.includes(NODES) ? this.#nodes : this.#others;
    return await level.enter(callerOf(username), request);
  }
}

/**
 * Divides the requests in flight fairly among callers (`callerOf`): if more requests arrive than may run, each caller's requests wait in a
 * queue of their own, and the callers take turns.
 */
class Level {
  readonly #limits: InFlightLimits;
  /** Numbers of requests by caller. */
  readonly #running = new Map<string, number>();
  readonly #longRunning = new Map<string, number>();
  /** The functions that let waiting requests run, by caller. The caller whose turn is next comes first. */
  readonly #queues = new Map<string, Set<() => void>>();
  #total = 0;

  constructor(limits: InFlightLimits) {
    this.#limits = limits;
  }

  /** See `InFlight.enter`. */
  async enter(
    caller: string,
    { isLongRunning, signal }: { isLongRunning: boolean; signal: AbortSignal },
  ): Promise<Disposable> {
    if (isLongRunning) return this.#enterLong(caller);
    if (this.#queues.has(caller) || !this.#hasRoom(caller)) await this.#wait(caller, signal);
    else this.#start(caller);
    return {
      [Symbol.dispose]: () => {
        add(this.#running, caller, -1);
        this.#total -= 1;
        this.#startWaiting();
      },
    };
  }

  #enterLong(caller: string): Disposable {
    if ((this.#longRunning.get(caller) ?? 0) >= this.#limits.longRunning) throw refused();
    add(this.#longRunning, caller, 1);
    return { [Symbol.dispose]: () => add(this.#longRunning, caller, -1) };
  }

  #hasRoom(caller: string): boolean {
    const { total, requests } = this.#limits;
    return this.#total < total && (this.#running.get(caller) ?? 0) < requests;
  }

  #start(caller: string): void {
    add(this.#running, caller, 1);
    this.#total += 1;
  }

  /** Waits until it is the request's turn, and then counts it as in flight. */
  async #wait(caller: string, signal: AbortSignal): Promise<void> {
    const queue = this.#queues.get(caller) ?? new Set();
    if (queue.size >= this.#limits.waiting) throw refused();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#queues.set(caller, queue.add(resolve));
    const ended = new AbortController();
    const isOver = await raceAbort(
      Promise.race([promise.then(() => false), pause(MAX_WAIT_MS, ended.signal).then(() => true)]),
      signal,
    ).catch((error: unknown) => error);
    ended.abort();
    if (isOver === false) return;
    const isStarted = !queue.delete(resolve);
    if (queue.size === 0 && this.#queues.get(caller) === queue) this.#queues.delete(caller);
    if (isStarted) return; // it was its turn at the same time
    throw isOver === true ? refused() : isOver;
  }

  /** Lets waiting requests run, one of each caller in turn, as long as there is room. */
  #startWaiting(): void {
    for (let caller = this.#nextCaller(); caller !== undefined; caller = this.#nextCaller()) {
      const queue = this.#queues.get(caller)!;
      const [start] = queue;
      queue.delete(start!);
      this.#queues.delete(caller);
      if (queue.size > 0) this.#queues.set(caller, queue); // behind the others
      this.#start(caller);
      start!();
    }
  }

  #nextCaller(): string | undefined {
    return [...this.#queues.keys()].find((caller) => this.#hasRoom(caller));
  }
}

const refused = () => tooManyRequests('Too many requests, please try again later.', 1);

function add(counts: Map<string, number>, caller: string, change: number): void {
  const count = (counts.get(caller) ?? 0) + change;
  if (count > 0) counts.set(caller, count);
  else counts.delete(caller);
}
