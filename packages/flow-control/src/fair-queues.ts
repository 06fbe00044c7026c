import { dealHand } from './deal-hand.ts';

/** The queues for requests that find no free seat. `queueLengthLimit`: maximum number of requests that wait in each queue. */
export type Queuing = { queues: number; handSize: number; queueLengthLimit: number };

export type FairQueuesConfig = {
  /** Maximum number of requests that run at a time. */
  seats: number;
  /** Undefined: requests that find no free seat are refused. */
  queuing?: Queuing;
};

/** A request that waits, or runs. */
export type Ticket = {
  readonly flow: string;
  readonly queue: Queue | undefined;
  /** The number of requests in the queue when this one was added, including it. 0 without a queue. */
  readonly length: number;
  /** The value of R when the request arrived. */
  readonly arrivalR: number;
  /** Called when the request leaves its queue to run. */
  readonly start: () => void;
  /** When the request began to run, in milliseconds; undefined while it waits. */
  startMs: number | undefined;
};

type Queue = {
  readonly number: number;
  /** In the order of their arrival. */
  readonly waiting: Set<Ticket>;
  running: number;
  /** The value of R at which the next request would start if all queues ran at the same rate. */
  nextR: number;
};

/** The estimated duration of a request, in seconds, as in upstream. It is corrected when the request has ended. */
const ESTIMATED_SECONDS = 0.003;

/**
 * The share of a level's seats that the requests of one flow may occupy at a time. A request keeps its seat until it ends, and a client
 * that sends its body slowly can occupy a seat for a minute. Upstream has no such limit.
 */
const FLOW_SHARE = 1 / 2;

/**
 * Shares the seats of a priority level fairly among flows, by fair queuing (apiserver, util/flowcontrol/fairqueuing/queueset). A request
 * waits in the shortest queue of its flow's hand (`dealHand`).
 *
 * Which queue gets a free seat is decided by a simulation in which all queues run at the same time and share the seats equally. R is the
 * number of seconds of seat time that each queue has had in the simulation. The queue whose next request would start at the lowest R is
 * next. Queues without requests are not kept in memory.
 */
export class FairQueues {
  readonly #now: () => number;
  readonly #queues = new Map<number, Queue>();
  /** The number of running requests of each flow. */
  readonly #runningByFlow = new Map<string, number>();
  #config: FairQueuesConfig;
  #waiting = 0;
  #running = 0;
  #arrivals = 0;
  #r = 0;
  /** When R was computed, in milliseconds. */
  #lastMs: number;

  /** `now` returns milliseconds of a monotonic clock. */
  constructor(config: FairQueuesConfig, now: () => number) {
    this.#config = config;
    this.#now = now;
    this.#lastMs = now();
  }

  /** The number of queues with requests. */
  get activeQueues(): number {
    return this.#queues.size;
  }

  /** Whether requests that find no seat wait. */
  get hasQueues(): boolean {
    return this.#config.queuing !== undefined;
  }

  /** Changes the seats and queues. Running requests keep their seats, waiting ones their places, also in queues that are removed. */
  configure(config: FairQueuesConfig): void {
    this.#advance();
    this.#config = config;
    this.#dispatch();
  }

  /** Adds a request. Calls `start` once it has a seat, maybe before the call returns. Returns undefined if the request is refused. */
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

  /** Removes a request. Must be called once for each ticket, when the request has ended or has stopped waiting. */
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

  /** Computes R: since the last call, the queues with requests have shared the occupied seats equally. Called before each change. */
  #advance(): void {
    const nowMs = this.#now();
    const seats = Math.min(this.#running + this.#waiting, this.#config.seats);
    if (this.#queues.size > 0) this.#r += ((nowMs - this.#lastMs) / 1000) * (seats / this.#queues.size);
    this.#lastMs = nowMs;
  }

  /** Returns the shortest queue of a flow's hand; a new one if it has no requests. Each call begins with another queue of the hand. */
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

  /** Whether a new request of a flow gets no seat now. */
  #hasNoSeatFor(flow: string): boolean {
    return this.#running >= this.#config.seats || this.#isAtLimit(flow);
  }

  /** Whether a flow has the maximum number of seats of one flow. */
  #isAtLimit(flow: string): boolean {
    const most = Math.max(1, Math.ceil(this.#config.seats * FLOW_SHARE));
    return (this.#runningByFlow.get(flow) ?? 0) >= most;
  }

  /** Gives free seats to waiting requests. */
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

  /** Returns the request that gets the next free seat; undefined if each waiting request is of a flow with the maximum number of seats. */
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

/** In the simulation too, a request starts no earlier than it arrives: a queue gets no seat time for the time when it was empty. */
function boundNext(queue: Queue): void {
  const [oldest] = queue.waiting;
  if (oldest !== undefined) queue.nextR = Math.max(queue.nextR, oldest.arrivalR);
}

function addTo(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
