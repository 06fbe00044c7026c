import type { FlowClass } from './flow-class.ts';

/** Observes changes of priority levels and the progress of requests. Implemented by the metrics. */
export interface FlowObserver {
  /** A level now has this number of seats. */
  levelConfigured(name: string, seats: number): void;
  levelRemoved(name: string): void;
  /** A request was added to a queue, which now has `length` requests. It may leave the queue immediately. */
  enqueued(flowClass: FlowClass, length: number): void;
  /** The number of waiting requests changed by `change`. */
  queued(flowClass: FlowClass, change: 1 | -1): void;
  /** A request that needs a seat got one, or was rejected, after `seconds`. `runs`: whether it got a seat. */
  waited(flowClass: FlowClass, seconds: number, runs: boolean): void;
  /** A request got a seat, or needs none. */
  started(flowClass: FlowClass): void;
  /** A request ended, `seconds` after `started`. */
  ended(flowClass: FlowClass, seconds: number): void;
  /** A request was rejected. `reason`: `queue-full`, `concurrency-limit`, `time-out` or `cancelled`. */
  refused(flowClass: FlowClass, reason: string): void;
}
