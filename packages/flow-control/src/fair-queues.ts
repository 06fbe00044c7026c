import { dealHand } from './deal-hand.ts';

/** Queues for requests that find no free seat. `queueLengthLimit`: maximum number of requests waiting in each queue. */
type Queuing = { queues: number; handSize: number; queueLengthLimit: number };

export type FairQueuesConfig = {
  /** Maximum number of requests of the priority level that run concurrently. */
  seats: number;
  /** How requests that find no free seat are queued. If undefined, they are rejected. */
  queuing?: Queuing;
};

/** A waiting or running request. */
export type Ticket = {
  readonly flow: string;
  readonly queue: Queue | undefined;
  /** Length of the queue when this request was added, including it; 0 without a queue. */
  readonly length: number;
  /** The value of R (see `FairQueues`) when the request arrived. */
  readonly arrivalR: number;
  /** Called when the request starts to run. */
  readonly start: () => void;
  /** When the request started to run, in milliseconds; undefined while it is waiting. */
  startMs: number | undefined;
};

type Queue = {
  readonly number: number;
  /** The queue's waiting requests, in order of arrival. */
  readonly waiting: Set<Ticket>;
  running: number;
  /** The value of R (see `FairQueues`) at which the queue's next request would start if all queues ran at the same rate. */
  nextR: number;
};

/** Estimated duration of a request in seconds, as in upstream. Corrected when the request ends. */
const ESTIMATED_SECONDS = 0.003;

/**
 * The share of a level's seats that the requests of one flow may occupy at a time. A request keeps its seat until it ends, and a client
 * that sends its body slowly can occupy a seat for a minute. Upstream has no such limit.
 */
const FLOW_SHARE = 1 / 2;

/**
 * Shares a priority level's seats fairly among flows, by fair queuing (apiserver, util/flowcontrol/fairqueuing/queueset). A request waits
 * in the shortest queue of its flow's hand (`dealHand`).
 *
 * A simulation in which all queues run at the same time, sharing the seats equally, decides which queue gets a free seat. R is the seat
 * time in seconds that each queue has received in the simulation. The next seat goes to the queue whose next request would start at the
 * lowest R. Idle queues are not kept in memory.
 */
export class FairQueues {
  readonly #now: () => number;
  readonly #queues = new Map<number, Queue>();
  readonly #runningByFlow = new Map<string, number>();
  #config: FairQueuesConfig;
  #waiting = 0;
  #running = 0;
  #arrivals = 0;
  #r = 0;
  /** When R was last computed, in milliseconds. */
  #lastMs: number;

  /** `now` returns the time of a monotonic clock in milliseconds. */
  constructor(config: FairQueuesConfig, now: () => number) {
    this.#config = config;
    this.#now = now;
    this.#lastMs = now();
  }

  /** The number of queues with waiting or running requests. */
  get activeQueues(): number {
    return this.#queues.size;
  }

  /** Whether requests that find no free seat are queued. */
  get hasQueues(): boolean {
    return this.#config.queuing !== undefined;
  }

  /** Changes the seats and queues. Running requests keep their seats and waiting requests their places, even in queues that are removed. */
  configure(config: FairQueuesConfig): void {
    this.#advance();
    this.#config = config;
    this.#dispatch();
  }

  /** Adds a request. Calls `start` once it has a seat, possibly before returning. Returns undefined if the request is rejected. */
  enter(flow: string, start: () => void): Ticket | undefined {
    this.#advance();
    const { seats, queuing } = this.#config;
    if (queuing === undefined) {
      if (this.#running >= seats) return undefined;
      const ticket: Ticket = { flow, queue: undefined, length: 0, arrivalR: this.#r, start, startMs: undefined };
      this.#start(ticket);
      return ticket;
    }
    const queue = this.#chooseQueue(flow, queuing);
    if (this.#hasNoSeatFor(flow) && queue.waiting.size >= queuing.queueLengthLimit) return undefined;
    if (isIdle(queue)) {
      queue.nextR = this.#r;
      this.#queues.set(queue.number, queue);
    }
    const length = queue.waiting.size + 1;
    const ticket: Ticket = { flow, queue, length, arrivalR: this.#r, start, startMs: undefined };
    queue.waiting.add(ticket);
    this.#waiting += 1;
    boundNext(queue);
    this.#dispatch();
    return ticket;
  }

  /** Removes a request. Must be called once per ticket, when the request has ended or stopped waiting. */
  leave(ticket: Ticket): void {
    this.#advance();
    const { queue, flow, startMs } = ticket;
    if (startMs === undefined) {
      if (!queue!.waiting.delete(ticket)) return;
      this.#waiting -= 1;
    } else {
      this.#running -= 1;
      addTo(this.#runningByFlow, flow, -1);
      if (queue !== undefined) {
        queue.running -= 1;
        queue.nextR -= ESTIMATED_SECONDS - (this.#now() - startMs) / 1000;
      }
    }
    if (queue !== undefined) {
      boundNext(queue);
      if (isIdle(queue)) this.#queues.delete(queue.number);
    }
    this.#dispatch();
  }

  /** Advances R: since the last call, the queues with requests have shared the occupied seats equally. Called before every change. */
  #advance(): void {
    const nowMs = this.#now();
    const seats = Math.min(this.#running + this.#waiting, this.#config.seats);
    if (this.#queues.size > 0) this.#r += ((nowMs - this.#lastMs) / 1000) * (seats / this.#queues.size);
    this.#lastMs = nowMs;
  }

  /**
   * Returns the shortest queue of a flow's hand, or a new one in place of an idle queue. Each call starts with a different queue of the
   * hand.
   */
  #chooseQueue(flow: string, queuing: Queuing): Queue {
    const hand = dealHand(flow, queuing);
    const offset = this.#arrivals++ % hand.length;
    let best: Queue | undefined;
    for (let index = 0; index < hand.length; index++) {
      const number = hand[(offset + index) % hand.length]!;
      const queue = this.#queues.get(number) ?? { number, waiting: new Set(), running: 0, nextR: this.#r };
      if (best === undefined || queue.waiting.size < best.waiting.size) best = queue;
    }
    return best!;
  }

  #hasNoSeatFor(flow: string): boolean {
    return this.#running >= this.#config.seats || this.#isAtLimit(flow);
  }

  #isAtLimit(flow: string): boolean {
    const most = Math.max(1, Math.ceil(this.#config.seats * FLOW_SHARE));
    return (this.#runningByFlow.get(flow) ?? 0) >= most;
  }

  #dispatch(): void {
    while (this.#waiting > 0 && this.#running < this.#config.seats) {
      const ticket = this.#next();
      if (ticket === undefined) return;
      const { queue } = ticket;
      queue!.waiting.delete(ticket);
      this.#waiting -= 1;
      queue!.running += 1;
      queue!.nextR += ESTIMATED_SECONDS;
      boundNext(queue!);
      this.#queues.delete(queue!.number); // the queue becomes the last one, so that the others are preferred at the same R
      this.#queues.set(queue!.number, queue!);
      this.#start(ticket);
    }
  }

  /** Returns the request that gets the next free seat; undefined if all waiting requests belong to flows at their limit. */
  #next(): Ticket | undefined {
    let next: Ticket | undefined;
    for (const queue of this.#queues.values()) {
      if (next !== undefined && queue.nextR >= next.queue!.nextR) continue;
      for (const ticket of queue.waiting) {
        if (this.#isAtLimit(ticket.flow)) continue;
        next = ticket;
        break;
      }
    }
    return next;
  }

  #start(ticket: Ticket): void {
    ticket.startMs = this.#now();
    this.#running += 1;
    addTo(this.#runningByFlow, ticket.flow, 1);
    ticket.start();
  }
}

const isIdle = ({ waiting, running }: Queue): boolean => waiting.size === 0 && running === 0;

/**
 * Raises a queue's `nextR` to the arrival of its oldest waiting request: even in the simulation, a request starts no earlier than it
 * arrives, so the queue gets no credit for the time it was empty.
 */
function boundNext(queue: Queue): void {
  const [oldest] = queue.waiting;
  if (oldest !== undefined) queue.nextR = Math.max(queue.nextR, oldest.arrivalR);
}

function addTo(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
