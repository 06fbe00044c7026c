import type { Pod } from '@podwright/kube-api';
import type { NodeAmounts } from '../node/node-allocatable.ts';

/** The limits in effect; an absent one means unlimited. */
export type EnforcedLimits = {
  /** Processes and threads of one pod. */
  pidsPerPod?: number;
  /** Limits of all pods together. */
  allPods?: NodeAmounts;
};

/** The cgroups of pods, for the pod workers. */
export interface PodCgroups {
  /** The node's limits, which apply in addition to those in pod specs. */
  readonly enforced: EnforcedLimits;
  /** Path of the cgroup of all pods in the hierarchy; '' if the runtime chooses it. */
  readonly allPods: string;
  /** Creates the pod's cgroup, or updates its limits. */
  ensure(pod: Pod): Promise<void>;
  /** The pod's cgroup for the CRI's `cgroup_parent`; '' lets the runtime choose. */
  parentFor(pod: Pod): string;
  /** Removes the cgroup of a pod whose containers have exited. Kills remaining processes unless they may belong to another kubelet. */
  remove(podUid: string): Promise<void>;
  /** Kills and removes the cgroups of pods that are not in `keep`, unless they may belong to another kubelet. */
  removeOrphans(keep: ReadonlySet<string>): Promise<void>;
  /**
   * Sets the limits of all pods together and of the QoS classes again, in case another program has changed them or the last attempt failed.
   */
  refresh(): Promise<void>;
  /** Releases this kubelet's claim on the cgroups, so that another kubelet can use them. */
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
