import { dealHand } from './deal-hand.ts';

/** How requests of a priority level that find no seat wait. */
export type Queuing = { queues: number; handSize: number; queueLengthLimit: number };

export type FairQueuesConfig = {
  /** Maximum number of requests that run at a time. */
  seats: number;
  /** Undefined: requests that find no seat are refused. */
  queuing?: Queuing;
};

/** A request that waits, or runs. */
export type Ticket = {
  readonly flow: string;
  readonly queue: Queue | undefined;
  /** The number of requests in the queue when this one was added, with it. 0 without a queue. */
  readonly length: number;
  /** The progress meter when the request arrived. */
  readonly arrivalR: number;
  /** Called when the request leaves its queue to run. */
  readonly start: () => void;
  /** Milliseconds; undefined while the request waits. */
  startMs: number | undefined;
};

type Queue = {
  readonly number: number;
  /** In the order of their arrival. */
  readonly waiting: Set<Ticket>;
  running: number;
  /** The progress meter at which the next request starts in the virtual world. */
  nextR: number;
};

/** The duration that a request is assumed to have until it has ended, in seconds, as in upstream. */
const ESTIMATED_SECONDS = 0.003;

/**
 * The share of the seats that requests of one flow may have at a time. A seat cannot be taken away again, and a request may hold it for a
 * minute, by sending its body slowly. Upstream has no such limit.
 */
const FLOW_SHARE = 1 / 2;

/**
 * Shares a number of seats fairly among flows (apiserver, util/flowcontrol/fairqueuing/queueset). A request waits in the shortest queue of
 * its flow's hand. A free seat goes to the queue whose next request would start first if all queues ran at once at the same rate. That rate
 * is the progress of the meter R, in seconds that a queue has run. Only queues with requests exist in memory.
 */
export class FairQueues {
  readonly #now: () => number;
  readonly #queues = new Map<number, Queue>();
  /** Numbers of running requests. */
  readonly #runningByFlow = new Map<string, number>();
  #config: FairQueuesConfig;
  #waiting = 0;
  #running = 0;
  #arrivals = 0;
  #r = 0;
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

  /** Requests in queues that there are no longer wait on in them. */
  configure(config: FairQueuesConfig): void {
    this.#advance();
    this.#config = config;
    this.#dispatch();
  }

  /** Lets a request run or wait. Calls `start`, maybe at once, when it may run. Returns undefined if it is refused. */
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
    if (this.#isFullFor(flow) && queue.waiting.size >= queuing.queueLengthLimit) return undefined;
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

  /** Must be called when a request has ended, or does not wait any longer. */
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

  /** Advances the progress meter: in the time since the last change, all queues with requests shared the seats that were in use. */
  #advance(): void {
    const nowMs = this.#now();
    const seats = Math.min(this.#running + this.#waiting, this.#config.seats);
    if (this.#queues.size > 0) this.#r += ((nowMs - this.#lastMs) / 1000) * (seats / this.#queues.size);
    this.#lastMs = nowMs;
  }

  /** Returns the shortest queue of a flow's hand, which may be a new one. Flows that share queues begin at different ones. */
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

  #isFullFor(flow: string): boolean {
    return this.#running >= this.#config.seats || this.#isHeavy(flow);
  }

  /** Whether a flow has as many seats as it may have. */
  #isHeavy(flow: string): boolean {
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
      this.#queues.delete(queue!.number); // behind the others: they win if their requests would start at the same time
      this.#queues.set(queue!.number, queue!);
      this.#start(ticket);
    }
  }

  /** Returns the first request that may run of the queue whose next request would start first. */
  #next(): Ticket | undefined {
    let next: Ticket | undefined;
    for (const queue of this.#queues.values()) {
      if (next !== undefined && queue.nextR >= next.queue!.nextR) continue;
      for (const ticket of queue.waiting) {
        if (this.#isHeavy(ticket.flow)) continue;
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

/** A request does not start before it arrives, also in the virtual world: a queue cannot save up seats that it did not need. */
function boundNext(queue: Queue): void {
  const [oldest] = queue.waiting;
  if (oldest !== undefined) queue.nextR = Math.max(queue.nextR, oldest.arrivalR);
}

function addTo(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
