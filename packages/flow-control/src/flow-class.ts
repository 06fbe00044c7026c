import type { FairQueues } from './fair-queues.ts';
import type { RetryAfter } from './retry-after.ts';

/** A priority level. */
export type Level = {
  readonly name: string;
  uid: string;
  /** Undefined if the level is exempt. */
  readonly queues: FairQueues | undefined;
  readonly retryAfter: RetryAfter;
};

/** Where a request belongs. The UIDs are '' for objects that do not exist. */
export type FlowClass = {
  readonly schema: { readonly name: string; readonly uid: string };
  readonly level: Level;
  /** Requests of the same flow share its queues. */
  readonly flow: string;
  /** Whether the request needs no seat. */
  readonly isExempt: boolean;
};
