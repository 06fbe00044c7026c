import type { FlowClass } from './flow-class.ts';

/** Is informed about priority levels and requests. */
export interface FlowObserver {
  /** A level has this number of seats from now on. */
  levelConfigured(name: string, seats: number): void;
  levelRemoved(name: string): void;
  /** A request was added to a queue, which has `length` requests now. It may leave the queue at once. */
  enqueued(one: FlowClass, length: number): void;
  /** The number of waiting requests changed by `change`. */
  queued(one: FlowClass, change: 1 | -1): void;
  /** A request that needs a seat runs, or is refused, after this time. */
  waited(one: FlowClass, seconds: number, runs: boolean): void;
  started(one: FlowClass): void;
  ended(one: FlowClass, seconds: number): void;
  /** `reason`: `queue-full`, `concurrency-limit`, `time-out` or `cancelled`. */
  refused(one: FlowClass, reason: string): void;
}
