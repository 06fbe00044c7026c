/**
 * Where everything that can happen meets: changes of the desired pods, what the runtime says, results of probes, changed
 * objects, and the passage of time. It only notifies the pod workers; they do the work.
 */
import { errorMessage, type Logger } from '@podwright/base';
import { type Pod, podFullName } from '../api/types.ts';
import type { LocalObjectChange } from '../config/local-objects.ts';
import type { PodUpdate } from '../config/pod-update.ts';
import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import type { WaitingReason } from '../kubecontainer/sync-result.ts';
import type { ProbeResultUpdate } from '../prober/probe-results.ts';
import type { EphemeralContainers } from './ephemeral-containers.ts';
import { orphanPod } from './orphan-pod.ts';
import type { PodManager } from './pod-manager.ts';
import type { PodWorkers } from './pod-workers.ts';

export type SyncLoopDependencies = {
  manager: PodManager;
  workers: PodWorkers;
  /** Every pod that the runtime has, as last seen. */
  runtimePods: () => RuntimePodStatus[];
  /** What people added to pods. */
  ephemeral: EphemeralContainers;
  /** A pod entered the kubelet. */
  onSeen: (pod: Pod) => void;
  logger: Logger;
};

export class SyncLoop {
  readonly #deps: SyncLoopDependencies;

  constructor(deps: SyncLoopDependencies) {
    this.#deps = deps;
  }

  handlePods({ operation, source, pods }: PodUpdate): void {
    const { manager, workers, logger, onSeen, ephemeral } = this.#deps;
    for (const pod of pods.map((given) => ephemeral.complete(given))) {
      logger.debug({ operation, source, pod: podFullName(pod), uid: pod.metadata.uid }, 'pod update');
      if (operation === 'REMOVE') {
        manager.delete(pod.metadata.uid);
        ephemeral.forget(pod.metadata.uid);
        this.#settle(workers.end(pod, { remove: true }));
        continue;
      }
      if (!manager.has(pod.metadata.uid)) onSeen(pod);
      manager.set(pod, source);
      workers.update(pod);
    }
  }

  /** Ends the pods that only the runtime knows. Called once every source has been read, and now and then afterwards. */
  endOrphans(): void {
    const { manager, workers, runtimePods, logger } = this.#deps;
    for (const status of runtimePods()) {
      const { uid, namespace, name } = status.pod;
      if (manager.has(uid) || workers.has(uid)) continue;
      logger.info({ pod: `${namespace}/${name}`, uid }, 'ending a pod that no source has');
      this.#settle(workers.end(orphanPod(status), { remove: true }));
    }
  }

  /** Ends a pod at once as failed; it stays to be seen. */
  evict(pod: Pod, verdict: WaitingReason): void {
    this.#deps.logger.info({ pod: podFullName(pod), reason: verdict.message }, 'evicting a pod');
    this.#settle(this.#deps.workers.end(pod, { verdict, gracePeriodSeconds: 0, remove: false }));
  }

  /** Containers of the pod started or ended. */
  handleLifecycle(podUid: string): void {
    this.#deps.workers.notice(podUid);
  }

  handleProbe({ podUid, kind, containerName, result }: ProbeResultUpdate): void {
    this.#deps.logger.debug({ uid: podUid, kind, container: containerName, result }, 'probe result');
    this.#deps.workers.notice(podUid);
  }

  /** Pods of the object's namespace may use it: what waited for it goes on, what has it gets the new content. */
  handleObject({ kind, namespace }: LocalObjectChange): void {
    for (const pod of this.#deps.manager.list()) {
      if (kind === 'RuntimeClass' || pod.metadata.namespace === namespace) this.#deps.workers.retry(pod.metadata.uid);
    }
  }

  /** Callers need not await the end of a pod; the worker logs its failures. */
  #settle(ended: Promise<void>): void {
    ended.catch((error: unknown) => this.#deps.logger.error({ error: errorMessage(error) }, 'ending a pod failed'));
  }
}
