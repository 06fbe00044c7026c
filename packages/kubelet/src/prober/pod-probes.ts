import type { Pod } from '@podwright/kube-api';
import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import type { ProbeResults } from './probe-results.ts';

/** The part of the prober that the pod workers use. */
export interface PodProbes {
  readonly liveness: ProbeResults;
  readonly readiness: ProbeResults;
  readonly startup: ProbeResults;
  /** Updates the pod's containers: starts probing new ones and stops probing exited ones. */
  update(pod: Pod, status: RuntimePodStatus, podIps: string[]): void;
  /** Stops the liveness and startup probes of a terminating pod. Its readiness probes continue until the pod is removed. */
  stopLiveness(podUid: string): void;
  remove(podUid: string): void;
  /** Stops all probes, because the kubelet is shutting down. */
  stop(): void;
}
