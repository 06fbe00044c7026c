import type { FlowClass } from './flow-class.ts';

/** Notified of changes of priority levels, and of what happens to requests. Metrics implement it. */
export interface FlowObserver {
  /** A level has now this number of seats. */
  levelConfigured(name: string, seats: number): void;
  levelRemoved(name: string): void;
  /** A request was added to a queue, which has `length` requests now. It may leave the queue at once. */
  enqueued(flowClass: FlowClass, length: number): void;
  /** The number of waiting requests changed by `change`. */
  queued(flowClass: FlowClass, change: 1 | -1): void;
  /** A request that needs a seat got one after `seconds`, or was refused. `runs`: whether it got a seat. */
  waited(flowClass: FlowClass, seconds: number, runs: boolean): void;
  /** A request has got a seat, or needs none. */
  started(flowClass: FlowClass): void;
  /** A request has ended, `seconds` after `started`. */
  ended(flowClass: FlowClass, seconds: number): void;
  /** A request was refused. `reason`: `queue-full`, `concurrency-limit`, `time-out` or `cancelled`. */
  refused(flowClass: FlowClass, reason: string): void;
}
