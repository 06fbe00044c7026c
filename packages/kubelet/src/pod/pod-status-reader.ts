import { errorCode, shownError } from '@podwright/base';
import { asRpcError } from '@podwright/grpc';
import { eventSubject, type Pod } from '@podwright/kube-api';
import { podIdentity } from '../kubecontainer/pod-identity.ts';
import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import type { PodSyncerDependencies } from './pod-syncer-dependencies.ts';

/** Reads pods from the container runtime. Never returns a state older than the last action on the pod. */
export class PodStatusReader {
  readonly #deps: Pick<PodSyncerDependencies, 'runtime' | 'pleg'>;
  /** When the last action on each pod completed (monotonic). A status read earlier is stale. */
  readonly #actedAtMs = new Map<string, number>();

  constructor(deps: Pick<PodSyncerDependencies, 'runtime' | 'pleg'>) {
    this.#deps = deps;
  }

  /**
   * Returns the pod's state after the last action on it. On failure, emits FailedSync, unless the container runtime is down, which is
   * reported elsewhere.
   */
  async statusOf(pod: Pod): Promise<RuntimePodStatus> {
    try {
      return await this.#deps.pleg.getNewerThan(podIdentity(pod), this.#actedAtMs.get(pod.metadata.uid) ?? 0);
    } catch (error) {
      const message = `error determining status: ${shownError(asRpcError(error))}`;
      if (errorCode(error) !== 'unavailable')
        this.#deps.runtime.events.event(eventSubject(pod), 'Warning', 'FailedSync', message);
      throw error;
    }
  }

  /** Reads the pod now, and updates the PLEG's cache. */
  readNow(pod: Pod): Promise<RuntimePodStatus> {
    const { tracer } = this.#deps.runtime;
    return tracer.span(pod.metadata.uid, 'read status', () => this.#deps.pleg.updateCache(podIdentity(pod)));
  }

  /** Records that an action on the pod has just completed. */
  acted(pod: Pod): void {
    this.#actedAtMs.set(pod.metadata.uid, performance.now());
  }

  forget(podUid: string): void {
    this.#actedAtMs.delete(podUid);
  }
}
