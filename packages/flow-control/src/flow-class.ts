import type { FairQueues, FairQueuesConfig } from './fair-queues.ts';
import type { RetryAfter } from './retry-after.ts';
import type { SeatDemand } from './seat-demand.ts';
import type { SeatLimits } from './seats.ts';

/** A priority level with its seats and queues. */
export type Level = {
  readonly name: string;
  uid: string;
  /** The seats and queues of the level; undefined if the level is exempt. */
  readonly queues: FairQueues | undefined;
  readonly retryAfter: RetryAfter;
  /** Measures the seats that the level's requests need. */
  readonly demand: SeatDemand;
  limits: SeatLimits;
  /** How requests of the level are queued. */
  queuesConfig: Omit<FairQueuesConfig, 'seats'>;
  /** The seats that the level has until the next adjustment. */
  seats: number;
};

/** The FlowSchema, priority level and flow of a request. Objects that are not stored have the UID ''. */
export type FlowClass = {
  readonly schema: { readonly name: string; readonly uid: string };
  readonly level: Level;
  /** The name of the flow: the FlowSchema, plus the user or namespace if the FlowSchema distinguishes them. */
  readonly flow: string;
  /** Whether the request runs without a seat. */
  readonly isExempt: boolean;
};
