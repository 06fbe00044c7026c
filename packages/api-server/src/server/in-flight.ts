import { tooManyRequests } from '@podwright/api-machinery';
import { pause, raceAbort } from '@podwright/base';
import { MASTERS, type UserInfo } from '@podwright/kube-kinds';

export type InFlightLimits = {
  /** Maximum number of concurrent requests of all users. */
  total: number;
  /** Maximum number of concurrent requests of a user. */
  requests: number;
  /** Maximum number of requests of a user that wait until one of these ends. */
  waiting: number;
  /** Maximum number of a user's watches, logs and other requests without a timeout. They do not wait, and are not part of the total. */
  longRunning: number;
};

/** The total is that of upstream. */
const DEFAULT_LIMITS: InFlightLimits = { total: 600, requests: 200, waiting: 200, longRunning: 2000 };

/** How long a request may wait: a quarter of the time limit of requests, as in upstream. */
const MAX_WAIT_MS = 15_000;

/**
 * Bounds the requests in flight, and divides them fairly: if more requests arrive than may run, each user's requests wait in a queue of
 * their own, and the users take turns. This is a simple form of upstream's priority and fairness, with a level for administrators, who are
 * not limited, so that they can intervene when others overload the server, and one for all others.
 */
export class InFlight {
  readonly #limits: InFlightLimits;
  /** Numbers of requests by user. */
  readonly #running = new Map<string, number>();
  readonly #longRunning = new Map<string, number>();
  /** The functions that let waiting requests run, by user. The user whose turn is next comes first. */
  readonly #queues = new Map<string, Set<() => void>>();
  #total = 0;

  constructor(limits = DEFAULT_LIMITS) {
    this.#limits = limits;
  }

  /**
   * Counts a request as in flight until the returned value is disposed. Waits if too many are in flight. Throws 429 if too many wait, or
   * after some time, and the signal's reason.
   */
  async enter(
    { username, groups }: UserInfo,
    { isLongRunning, signal }: { isLongRunning: boolean; signal: AbortSignal },
  ): Promise<Disposable> {
    if (groups.includes(MASTERS)) return { [Symbol.dispose]: () => undefined };
    if (isLongRunning) return this.#enterLong(username);
    if (this.#queues.has(username) || !this.#hasRoom(username)) await this.#wait(username, signal);
    else this.#start(username);
    return {
      [Symbol.dispose]: () => {
        add(this.#running, username, -1);
        this.#total -= 1;
        this.#startWaiting();
      },
    };
  }

  #enterLong(username: string): Disposable {
    if ((this.#longRunning.get(username) ?? 0) >= this.#limits.longRunning) throw refused();
    add(this.#longRunning, username, 1);
    return { [Symbol.dispose]: () => add(this.#longRunning, username, -1) };
  }

  #hasRoom(username: string): boolean {
    const { total, requests } = this.#limits;
    return this.#total < total && (this.#running.get(username) ?? 0) < requests;
  }

  #start(username: string): void {
    add(this.#running, username, 1);
    this.#total += 1;
  }

  /** Waits until it is the request's turn, and then counts it as in flight. */
  async #wait(username: string, signal: AbortSignal): Promise<void> {
    const queue = this.#queues.get(username) ?? new Set();
    if (queue.size >= this.#limits.waiting) throw refused();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#queues.set(username, queue.add(resolve));
    const ended = new AbortController();
    const isOver = await raceAbort(
      Promise.race([promise.then(() => false), pause(MAX_WAIT_MS, ended.signal).then(() => true)]),
      signal,
    ).catch((error: unknown) => error);
    ended.abort();
    if (isOver === false) return;
    const isStarted = !queue.delete(resolve);
    if (queue.size === 0 && this.#queues.get(username) === queue) this.#queues.delete(username);
    if (isStarted) return; // it was its turn at the same time
    throw isOver === true ? refused() : isOver;
  }

  /** Lets waiting requests run, one of each user in turn, as long as there is room. */
  #startWaiting(): void {
    for (let username = this.#nextUser(); username !== undefined; username = this.#nextUser()) {
      const queue = this.#queues.get(username)!;
      const [start] = queue;
      queue.delete(start!);
      this.#queues.delete(username);
      if (queue.size > 0) this.#queues.set(username, queue); // behind the others
      this.#start(username);
      start!();
    }
  }

  #nextUser(): string | undefined {
    return [...this.#queues.keys()].find((username) => this.#hasRoom(username));
  }
}

const refused = () => tooManyRequests('Too many requests, please try again later.', 1);

function add(counts: Map<string, number>, username: string, change: number): void {
  const count = (counts.get(username) ?? 0) + change;
  if (count > 0) counts.set(username, count);
  else counts.delete(username);
}
