import type { Pod } from '@podwright/kube-api';
import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import type { ProbeResults } from './probe-results.ts';

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
