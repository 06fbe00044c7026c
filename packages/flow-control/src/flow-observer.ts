import type { Adjusted } from './borrow-seats.ts';
import type { FlowClass } from './flow-class.ts';
import type { DemandSummary } from './seat-demand.ts';
import type { SeatLimits } from './seats.ts';

/** Observes changes of priority levels and the progress of requests. Implemented by the metrics. */
export interface FlowObserver {
  /** Called when the limits of a level's seats have been set. */
  levelConfigured(name: string, limits: SeatLimits): void;
  /** Called when the seats of a level have been adjusted to its demand. */
  levelAdjusted(name: string, adjusted: Adjusted, demand: DemandSummary): void;
  /** Called after each adjustment. `fraction`: the share of its demand that each level gets, unless a limit applies. */
  seatsShared(fraction: number): void;
  levelRemoved(name: string): void;
  /** Called when a request has been added to a queue, which now has `length` requests. The request might leave the queue immediately. */
  enqueued(flowClass: FlowClass, length: number): void;
  /** Called when the number of waiting requests has changed by `change`. */
  queued(flowClass: FlowClass, change: 1 | -1): void;
  /** Called when a request that needs a seat got one or was rejected, after `seconds`. `runs`: whether it got a seat. */
  waited(flowClass: FlowClass, seconds: number, runs: boolean): void;
  /** Called when a request got a seat, or needs none. */
  started(flowClass: FlowClass): void;
  /** Called when a request has ended, `seconds` after `started`. */
  ended(flowClass: FlowClass, seconds: number): void;
  /** Called when a request has been rejected. `reason`: `queue-full`, `concurrency-limit`, `time-out` or `cancelled`. */
  refused(flowClass: FlowClass, reason: string): void;
}
