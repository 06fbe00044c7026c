import type { Pod } from '@podwright/kube-api';
import type { NodeAmounts } from '../node/node-allocatable.ts';

/** The limits in force; absent ones are unlimited. */
export type EnforcedLimits = {
  /** Processes and threads of one pod. */
  pidsPerPod?: number;
  /** Of all pods together. */
  allPods?: NodeAmounts;
};

/** The cgroups of pods, for the pod workers. */
export interface PodCgroups {
  /** Limits of the node, besides those in the specs of pods. */
  readonly enforced: EnforcedLimits;
  /** Path of the cgroup of all pods in the hierarchy; '' if the runtime chooses. */
  readonly allPods: string;
  /** Creates the pod's cgroup, or updates its limits. */
  ensure(pod: Pod): Promise<void>;
  /** The pod's cgroup for the CRI's `cgroup_parent`; '' lets the runtime choose. */
  parentFor(pod: Pod): string;
  /** Removes the cgroup of a pod whose containers have exited. Remaining processes are killed, unless they may be another kubelet's. */
  remove(podUid: string): Promise<void>;
  /** Kills and removes the cgroups of pods that are not in `keep`, unless they may be another kubelet's. */
  removeOrphans(keep: ReadonlySet<string>): Promise<void>;
  /** Sets the limits of all pods together and of the classes again: another program may have changed them, or the last attempt failed. */
  refresh(): Promise<void>;
  /** Releases the claim on these cgroups, so that another kubelet can use them. */
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
