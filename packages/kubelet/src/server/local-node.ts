import { errorMessage, type Logger, PodwrightError } from '@podwright/base';
import type { Event, Pod } from '../api/types.ts';
import { CONFIG_FILE_ANNOTATION } from '../config/pod-update.ts';
import type { Kubelet } from '../kubelet.ts';
import { SEEN_TIMEOUT_MS } from '../limits.ts';
import type { TraceSpan } from '../trace/pod-tracer.ts';
import type { AppliedObjects } from './applied-objects.ts';
import type { ApplyResult, EventWatchEvent, NodeInfo, PodWatchEvent, RestartAnswer } from './local-api.ts';
import type { NodeBackend, ObjectName, StreamingCall } from './node-backend.ts';

export type LocalNodeParts = {
  kubelet: Kubelet;
  applied: AppliedObjects;
  info: Pick<NodeInfo, 'name' | 'version' | 'manifestDir' | 'podLogsDir'>;
  stop: (options: { removeHostState: boolean }) => void;
  logger: Logger;
};

type PodName = { namespace: string; name: string };

/** The node as its local API sees it: a kubelet, and the objects that clients applied. */
export class LocalNode implements NodeBackend {
  readonly #parts: LocalNodeParts;

  constructor(parts: LocalNodeParts) {
    this.#parts = parts;
  }

  async info(): Promise<NodeInfo> {
    const { runtime, podDefaults } = this.#parts.kubelet;
    return { ...this.#parts.info, pid: process.pid, runtime, podDefaults };
  }

  pods(): Pod[] {
    return this.#parts.kubelet.pods();
  }

  async *watchPods(signal: AbortSignal): AsyncGenerator<PodWatchEvent> {
    const changes = this.#parts.kubelet.watch(signal);
    const present = new Map(this.pods().map((pod) => [pod.metadata.uid, pod.metadata.resourceVersion]));
    for (const object of this.pods()) yield { type: 'ADDED', object };
    for await (const { type, pod } of changes) {
      // A change between the subscription and the list is in the list already.
      const known = present.get(pod.metadata.uid);
      if (type !== 'DELETED' && known !== undefined && Number(pod.metadata.resourceVersion) <= Number(known)) continue;
      yield { type, object: pod };
    }
  }

  events(): Event[] {
    return this.#parts.kubelet.events();
  }

  async *watchEvents(signal: AbortSignal): AsyncGenerator<EventWatchEvent> {
    const changes = this.#parts.kubelet.watchEvents(signal);
    for (const object of this.events()) yield { type: 'ADDED', object };
    for await (const object of changes) yield { type: object.count > 1 ? 'MODIFIED' : 'ADDED', object };
  }

  async apply(manifest: string): Promise<ApplyResult> {
    const objects = await this.#parts.applied.apply(manifest);
    const uids = objects.flatMap(({ uid }) => (uid === undefined ? [] : [uid]));
    await this.#seen(uids);
    return { objects };
  }

  async remove(object: ObjectName, gracePeriodSeconds: number | undefined): Promise<void> {
    const pod = object.kind === 'Pod' ? this.#parts.kubelet.pod(object.namespace, object.name) : undefined;
    const removed = await this.#parts.applied.remove(object);
    if (pod === undefined) {
      if (!removed)
        throw new PodwrightError(
          'not_found',
          `delete ${object.kind} ${object.namespace}/${object.name}: it was not applied`,
        );
      return;
    }
    const file = pod.metadata.annotations?.[CONFIG_FILE_ANNOTATION];
    if (!removed && pod.metadata.deletionTimestamp === undefined) {
      throw new PodwrightError(
        'failed_precondition',
        `delete pod ${object.namespace}/${object.name}: it comes from ${file}; remove it there`,
      );
    }
    this.#parts.kubelet.deletePod(pod.metadata.uid, gracePeriodSeconds).catch((error: unknown) => {
      this.#parts.logger.error({ pod: object.name, error: errorMessage(error) }, 'a pod could not be deleted');
    });
  }

  async log(
    pod: PodName,
    which: { container: string; previous: boolean },
    signal: AbortSignal,
  ): Promise<{ path: string; ended: AbortSignal }> {
    const found = this.#parts.kubelet.pod(pod.namespace, pod.name);
    const { path, running } = this.#parts.kubelet.containerLog(found, which.container, which.previous);
    if (!running) return { path, ended: AbortSignal.abort() };
    return { path, ended: this.#endOf(found, { container: which.container, path }, signal) };
  }

  async streamingUrl(name: PodName, call: StreamingCall): Promise<string> {
    const { kubelet } = this.#parts;
    const pod = kubelet.pod(name.namespace, name.name);
    if (call.kind === 'portforward') return kubelet.portForwardUrl(pod, call.ports);
    if (call.kind === 'attach') return kubelet.attachUrl(pod, call.container, call);
    return kubelet.execUrl(pod, call.container, call);
  }

  restart(name: PodName, container: string | undefined): RestartAnswer {
    const pod = this.#parts.kubelet.pod(name.namespace, name.name);
    return { containers: this.#parts.kubelet.restartContainers(pod, container) };
  }

  traces(podUid: string): TraceSpan[] {
    return this.#parts.kubelet.traces(podUid);
  }

  stop(options: { removeHostState: boolean }): void {
    this.#parts.stop(options);
  }

  /** Aborts when the container that writes this log has ended or its pod has gone. */
  #endOf(pod: Pod, log: { container: string; path: string }, signal: AbortSignal): AbortSignal {
    const ended = new AbortController();
    const changes = this.#parts.kubelet.watch(signal);
    const watch = async () => {
      if (this.#writes(pod, log)) {
        for await (const change of changes) {
          if (change.pod.metadata.uid !== pod.metadata.uid) continue;
          if (change.type === 'DELETED' || !this.#writes(change.pod, log)) break;
        }
      }
      changes.end();
      ended.abort();
    };
    void watch();
    return ended.signal;
  }

  #writes(pod: Pod, log: { container: string; path: string }): boolean {
    const now = this.#parts.kubelet.containerLog(pod, log.container, false);
    return now.running && now.path === log.path;
  }

  async #seen(uids: string[]): Promise<void> {
    const missing = new Set(uids);
    const changes = this.#parts.kubelet.watch(AbortSignal.timeout(SEEN_TIMEOUT_MS));
    for (const { metadata } of this.pods()) missing.delete(metadata.uid);
    if (missing.size === 0) return changes.end();
    for await (const { pod } of changes) {
      missing.delete(pod.metadata.uid);
      if (missing.size === 0) return;
    }
    throw new PodwrightError(
      'deadline_exceeded',
      `apply: the kubelet has not taken ${missing.size} pods up; look at 'podwright events' and the node's log`,
    );
  }
}
