import { counted, errorMessage, isUnimplemented, type Logger, PodwrightError } from '@podwright/base';
import type { Event, Pod } from '../api/types.ts';
import { ignoredFields } from '../config/ignored-fields.ts';
import { CONFIG_FILE_ANNOTATION } from '../config/pod-update.ts';
import type { Kubelet } from '../kubelet.ts';
import { MAX_MANIFEST_ERRORS, SEEN_TIMEOUT_MS } from '../limits.ts';
import { preflight } from '../preflight/preflight.ts';
import type { TraceSpan } from '../trace/pod-tracer.ts';
import type { AppliedObjects } from './applied-objects.ts';
import type {
  ApplyResult,
  EventWatchEvent,
  ImageTransfer,
  NodeInfo,
  PodWatchEvent,
  RestartAnswer,
  StopOptions,
} from './local-api.ts';
import type { LogChoice, NodeBackend, ObjectName, StreamingCall } from './node-backend.ts';

export type LocalNodeParts = {
  kubelet: Kubelet;
  applied: AppliedObjects;
  /** What is known of the node before it runs. */
  info: Omit<NodeInfo, 'pid' | 'runtime' | 'podDefaults'>;
  stop: (options: StopOptions) => void;
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
    const manifestErrors = this.#parts.kubelet.manifestErrors().slice(0, MAX_MANIFEST_ERRORS).map(String);
    return { ...this.#parts.info, pid: process.pid, runtime, podDefaults, manifestErrors };
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

  async *watchTransfers(signal: AbortSignal): AsyncGenerator<ImageTransfer> {
    try {
      for await (const progress of this.#parts.kubelet.cri.transfers.watch({}, { signal })) {
        const { reference, phase, doneBytes, totalBytes, layersDone, layersTotal, error } = progress;
        const bytes = { doneBytes: Number(doneBytes), totalBytes: Number(totalBytes) };
        yield { reference, phase, ...bytes, layersDone, layersTotal, error };
      }
    } catch (error) {
      if (!signal.aborted && !isUnimplemented(error)) throw error;
    }
  }

  async apply(manifest: string, { dryRun }: { dryRun: boolean }): Promise<ApplyResult> {
    const { done, objects, warnings } = await this.#parts.applied.apply(manifest, { dryRun });
    if (dryRun)
      return { objects: done, warnings, findings: preflight(objects, await this.#parts.kubelet.preflightHost()) };
    await this.#seen(done.flatMap(({ uid }) => (uid === undefined ? [] : [uid])));
    const pods = objects.filter((object) => object.kind === 'Pod');
    return { objects: done, warnings, findings: pods.flatMap((pod) => ignoredFields(pod, this.#parts.info.name)) };
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
    // A pod whose file has just been removed, by an earlier call, is going, whether or not the kubelet has seen that yet.
    const goes = removed || pod.metadata.deletionTimestamp !== undefined || file === this.#parts.applied.pathOf(object);
    if (!goes) {
      throw new PodwrightError(
        'failed_precondition',
        `delete pod ${object.namespace}/${object.name}: it comes from ${file}; remove it there`,
      );
    }
    this.#parts.kubelet.deletePod(pod.metadata.uid, gracePeriodSeconds).catch((error: unknown) => {
      this.#parts.logger.error({ pod: object.name, error: errorMessage(error) }, 'a pod could not be deleted');
    });
  }

  async log(pod: PodName, which: LogChoice, signal: AbortSignal): Promise<{ path: string; ended: AbortSignal }> {
    const found = this.#parts.kubelet.pod(pod.namespace, pod.name);
    const { path, running } = this.#parts.kubelet.containerLog(found, which);
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

  stop(options: StopOptions): void {
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
    const now = this.#parts.kubelet.containerLog(pod, { container: log.container, previous: false });
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
      `apply: the kubelet has not taken ${counted(missing.size, 'pod')} up; look at 'podwright events' and the node's log`,
    );
  }
}
