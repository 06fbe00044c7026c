import type { Logger } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import type { PodVolumes } from '@podwright/volumes';
import type { PodCgroups } from '../cgroups/pod-cgroups.ts';
import type { StepResult, WaitingReason } from '../kubecontainer/sync-result.ts';
import type { KillPodDependencies } from '../kuberuntime/kill-pod.ts';
import type { RemovePodDependencies } from '../kuberuntime/remove-pod.ts';
import type { SyncPodDependencies } from '../kuberuntime/sync-pod.ts';
import type { Pleg } from '../pleg/pleg.ts';
import type { PodProbes } from '../prober/pod-probes.ts';
import type { StatusManager } from '../status/status-manager.ts';
import type { Obstacles } from './hold-pod.ts';
import type { PodAllocations } from './pod-allocations.ts';
import type { PodGrants } from './pod-grants.ts';
import type { RestartRequests } from './restart-requests.ts';
import type { WaitingReasons } from './waiting-reasons.ts';

/**
 * Fetches the API objects that a pod refers to, before its volumes and containers are created, and caches them until `release` is called.
 */
export type PodNeeds = {
  /** Resolves once the pod's API objects are cached. May be called repeatedly. Rejects only if the signal aborts, with its reason. */
  ready(pod: Pod, signal: AbortSignal): Promise<void>;
  release(podUid: string): void;
};

/** Dependencies of `PodSyncer` and its gates. */
export type PodSyncerDependencies = {
  runtime: SyncPodDependencies & KillPodDependencies & RemovePodDependencies;
  pleg: Pleg;
  statuses: StatusManager;
  reasons: WaitingReasons;
  volumes: PodVolumes;
  probes: PodProbes;
  restarts: RestartRequests;
  allocations: PodAllocations;
  cgroups: PodCgroups;
  obstacles: Obstacles;
  /** Fetches the API objects that pods refer to; absent if there is no API server. */
  needs?: PodNeeds;
  logger: Logger;
  /** Returns why the pod was rejected; `undefined` if it was not. */
  refusal: (podUid: string) => WaitingReason | undefined;
  /** Rejects a pod that had already been admitted. */
  refuse: (podUid: string, refusal: WaitingReason) => void;
  grants: PodGrants;
  /** If one of the pod's PVCs exceeds its capacity, returns why the pod must not start yet. Default: PVCs have no limit. */
  claimRefusal?: (pod: Pod, signal: AbortSignal) => Promise<string | undefined>;
  /** Whether the pod's runtime handler supports recursive read-only mounts. */
  recursiveReadOnly: (pod: Pod) => boolean;
  /** Called after each sync that performed any steps, with their results. */
  onActed?: (pod: Pod, steps: StepResult[]) => void;
};
