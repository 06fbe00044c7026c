import type { Pod } from '@podwright/kube-api';
import type { NodeAmounts } from '../node/node-allocatable.ts';

/** The node-level limits in effect; an absent limit means unlimited. */
export type EnforcedLimits = {
  /** Maximum number of processes and threads per pod. */
  pidsPerPod?: number;
  /** Limits for all pods together. */
  allPods?: NodeAmounts;
};

/** The pods' cgroups, for the pod workers. */
export interface PodCgroups {
  /** The node's limits, which apply in addition to those in pod specs. */
  readonly enforced: EnforcedLimits;
  /** Path of the pods' parent cgroup in the hierarchy; '' if the container runtime picks one. */
  readonly allPods: string;
  /** Creates the pod's cgroup or updates its limits. */
  ensure(pod: Pod): Promise<void>;
  /** Returns the pod's cgroup for the CRI's `cgroup_parent`, or '' to let the container runtime pick one. */
  parentFor(pod: Pod): string;
  /**
   * Removes the cgroup of a pod whose containers have exited. Any remaining processes are killed unless they may belong to another kubelet.
   */
  remove(podUid: string): Promise<void>;
  /** Kills and removes the cgroups of pods not in `keep`, unless they may belong to another kubelet. */
  removeOrphans(keep: ReadonlySet<string>): Promise<void>;
  /**
   * Reapplies the limits for all pods together and for the QoS classes, in case another program has changed them or the last attempt
   * failed.
   */
  refresh(): Promise<void>;
  /** Releases this kubelet's claim on the cgroups, so that another kubelet can use them. */
  close(): Promise<void>;
}

/** An implementation that does nothing, because the container runtime manages the cgroups. */
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
