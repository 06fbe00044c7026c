import type { Pod } from '../api/types.ts';
import type { NodeAmounts } from '../cgroups/node-allocatable.ts';
import type { RuntimePodStatus } from '../kuberuntime/runtime-pod.ts';
import type { ProbeResults } from '../prober/probe-results.ts';

/** What the pod workers ask of the prober. */
export interface PodProbes {
  readonly liveness: ProbeResults;
  readonly readiness: ProbeResults;
  readonly startup: ProbeResults;
  /** The pod's containers as they are now: new ones are probed from now on, ended ones no more. */
  update(pod: Pod, status: RuntimePodStatus, podIps: string[]): void;
  /** Liveness and startup probes end, because the pod does; readiness goes on until it is gone. */
  stopLiveness(podUid: string): void;
  remove(podUid: string): void;
  /** Ends all probes, because the kubelet stops. */
  stop(): void;
}

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
  /** Makes the pod's cgroup with its limits, or brings them up to date. */
  ensure(pod: Pod): Promise<void>;
  /** The pod's cgroup as the runtime wants it, '' to leave it the choice. */
  parentFor(pod: Pod): string;
  /** Removes the pod's cgroup once nothing is in it. */
  remove(podUid: string): Promise<void>;
  /** Removes the cgroups of pods that are not in `keep`. */
  removeOrphans(keep: ReadonlySet<string>): Promise<void>;
}
