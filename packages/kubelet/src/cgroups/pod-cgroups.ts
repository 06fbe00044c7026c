import type { Pod } from '@podwright/kube-api';
import type { NodeAmounts } from '../node/node-allocatable.ts';

/** What the kernel holds pods to; absent parts have no limit. */
export type EnforcedLimits = {
  /** Processes and threads of one pod. */
  pidsPerPod?: number;
  /** Of all pods together. */
  allPods?: NodeAmounts;
};

/** What the pod workers ask of the cgroups. */
export interface PodCgroups {
  /** Limits beside those that pods ask for themselves. */
  readonly enforced: EnforcedLimits;
  /** The cgroup of all pods as the kernel has it, '' where the runtime chooses. */
  readonly allPods: string;
  /** Makes the pod's cgroup with its limits, or brings them up to date. */
  ensure(pod: Pod): Promise<void>;
  /** The pod's cgroup as the runtime wants it, '' to leave it the choice. */
  parentFor(pod: Pod): string;
  /** Removes the cgroup of a pod whose containers have ended; what is in it all the same is ended, unless it may be another kubelet's. */
  remove(podUid: string): Promise<void>;
  /** Ends and removes the cgroups of pods that are not in `keep`, unless they may be another kubelet's. */
  removeOrphans(keep: ReadonlySet<string>): Promise<void>;
  /** Brings what all pods have together up to date: somebody else may have changed it, and what was refused is tried again. */
  refresh(): Promise<void>;
  /** Lets another kubelet have these cgroups. */
  close(): Promise<void>;
}

/** Leaves cgroups to the runtime. */
export const noPodCgroups: PodCgroups = {
  enforced: {},
  allPods: '',
  ensure: async () => undefined,
  parentFor: () => '',
  remove: async () => undefined,
  removeOrphans: async () => undefined,
  refresh: async () => undefined,
  close: async () => undefined,
};
