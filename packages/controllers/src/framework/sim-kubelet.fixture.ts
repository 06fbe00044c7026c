/** Simulates the scheduler and the kubelet: assigns, starts, fails and removes long-running pods at random, one at a time. */
import { formatTime, type Pod } from '@podwright/kube-api';
import { PODS } from '@podwright/kube-client';
import type { SimServer } from './sim-server.fixture.ts';

export class SimKubelet {
  readonly #server: SimServer;
  /** Percentage of steps in which a pod fails or becomes unready. */
  failures = 0;

  constructor(server: SimServer) {
    this.#server = server;
  }

  /** Moves one pod to its next state. Returns false if no pod is left to change. */
  step(): boolean {
    const pods = this.#server.list<Pod>(PODS);
    const fails = this.#server.random.below(100) < this.failures;
    const pod = this.#server.random.pick(pods.filter((one) => fails || !isAtRest(one)));
    if (pod === undefined) return false;
    const place = { namespace: pod.metadata.namespace, name: pod.metadata.name };
    if (pod.metadata.deletionTimestamp !== undefined) {
      this.#server.change<Pod>(PODS, place, ({ status }) => {
        status!.phase = 'Failed';
      });
      this.#server.end(PODS, place);
    } else this.#server.change<Pod>(PODS, place, (changed) => this.#progress(changed, fails));
    return true;
  }

  #progress(pod: Pod, fails: boolean): void {
    const { status, spec } = pod;
    const lastTransitionTime = formatTime(this.#server.nowMs);
    if (isEnded(pod)) return;
    if (spec.nodeName === undefined) spec.nodeName = targetOf(pod);
    else if (status!.phase === 'Pending') status!.phase = 'Running';
    else if (fails && this.#server.random.below(2) === 0) status!.phase = 'Failed';
    else status!.conditions = [{ type: 'Ready', status: fails ? 'False' : 'True', lastTransitionTime }];
  }
}

/** Returns the node named in the pod's affinity, which is the only one the scheduler could choose. */
function targetOf({ spec }: Pod): string {
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required?.nodeSelectorTerms[0]?.matchFields?.[0]?.values?.[0] ?? 'n1';
}

function isEnded({ status }: Pod): boolean {
  return status?.phase === 'Failed' || status?.phase === 'Succeeded';
}

function isAtRest(pod: Pod): boolean {
  if (pod.metadata.deletionTimestamp !== undefined) return false;
  return (
    isEnded(pod) || pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true
  );
}
