import type { FlowClass } from './flow-class.ts';

/** Is informed about priority levels and requests. */
export interface FlowObserver {
  /** A level has this number of seats from now on. */
  levelConfigured(name: string, seats: number): void;
  levelRemoved(name: string): void;
  /** The number of waiting requests changed by `change`. `length`: that of the queue in which the request waits. */
  queued(one: FlowClass, change: 1 | -1, length?: number): void;
  /** A request has left its queue, to run or not. */
  waited(one: FlowClass, seconds: number, runs: boolean): void;
  started(one: FlowClass): void;
  ended(one: FlowClass, seconds: number): void;
  /** `reason`: `queue-full`, `concurrency-limit`, `time-out` or `cancelled`. */
  refused(one: FlowClass, reason: string): void;
}
