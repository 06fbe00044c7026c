import type { Pod } from '../api/types.ts';
import type { WaitingReason } from '../kubecontainer/sync-result.ts';

/** A pod that does not get what it asks for: for good, or until a device plugin comes. */
export type GrantAnswer =
  | { kind: 'refused'; refusal: WaitingReason }
  | { kind: 'waits'; reason?: string; message: string };

/** Gives pods what only one may have: devices, processors, memory of NUMA nodes. */
export type PodGrants = {
  /** Nothing if the pod has all that it asks for. */
  admit(pod: Pod, signal: AbortSignal): Promise<GrantAnswer | undefined>;
  /** Nothing of the pod runs any more. */
  release(podUid: string): Promise<void>;
};
