import {
  counted,
  errorMessage,
  isUnimplemented,
  type Logger,
  PodwrightError,
  sleep,
  waitFor,
  withTimeout,
} from '@podwright/base';
import {
  CONFIG_FILE_ANNOTATION,
  type Finding,
  holdsWithApi,
  isStaticPod,
  type ManifestObject,
  type Pod,
} from '@podwright/kube-api';
import {
  allFindings,
  type ConditionsPatch,
  type ContainerUse,
  hostUsage,
  type Kubelet,
  type LogSource,
  type TraceSpan,
  type UsageReport,
} from '@podwright/kubelet';
import { endOfLog, streamUrl } from '@podwright/kubelet-server';
import { readReferences } from './api-lookup.ts';
import type { ApiObjects } from './api-objects.ts';
import type { AppliedObjects } from './applied-objects.ts';
import { asApplied, withEphemeral } from './as-applied.ts';
import type { KubernetesApi } from './kubernetes-api.ts';
import type { ApplyOptions, ApplyResult, ImageTransfer, NodeInfo, RestartAnswer, StopOptions } from './local-api.ts';
import { type MetadataPatch, showsPatch } from './metadata-patch.ts';
import type {
  ApiKind,
  ApiObject,
  LogChoice,
  NodeBackend,
  ObjectName,
  ObjectWatch,
  PatchOf,
  StreamingCall,
} from './node-backend.ts';
import { NodeObjects } from './node-objects.ts';
import { type EphemeralPatch, patchedContainers, type ResizePatch, showsResize } from './pod-patch.ts';

/** How long an apply waits for the kubelet to read the files it has written. */
const SEEN_TIMEOUT_MS = 5000;

/**
 * How long an apply to the Kubernetes API waits for the kubelet to receive the pods. It then gives up without an error, because there may
 * be no node yet that can run them.
 */
const RECEIVED_TIMEOUT_MS = 1000;

/** Maximum number of manifest errors in `NodeInfo`. */
const MAX_MANIFEST_ERRORS = 100;

export type LocalNodeParts = {
  kubelet: Kubelet;
  applied: AppliedObjects;
  /** Set on a node with a Kubernetes API, which then stores the objects. */
  api?: { objects: ApiObjects; client: Pick<KubernetesApi, 'call'> };
  /** The parts of `NodeInfo` known before the node runs. */
  info: Omit<NodeInfo, 'pid' | 'runtime' | 'podDefaults' | 'pressure'>;
  stop: (options: StopOptions) => void;
  logger: Logger;
};

type PodName = { namespace: string; name: string };

/** The backend of the local API: a kubelet, plus the objects applied by clients. */
export class LocalNode implements NodeBackend {
  readonly #parts: LocalNodeParts;
  readonly #objects: NodeObjects;

  constructor(parts: LocalNodeParts) {
    this.#parts = parts;
    this.#objects = new NodeObjects(parts.kubelet);
  }

  async info(): Promise<NodeInfo> {
    const { runtime, podDefaults, pressure, networkNote: network } = this.#parts.kubelet;
    const manifestErrors = this.#parts.kubelet.manifestErrors().slice(0, MAX_MANIFEST_ERRORS).map(String);
    return { ...this.#parts.info, pid: process.pid, runtime, podDefaults, pressure, network, manifestErrors };
  }

  list(kind: ApiKind): ApiObject[] {
    return this.#objects.list(kind);
  }

  get(object: ObjectName<ApiKind>): ApiObject {
    return this.#objects.get(object);
  }

  watch(kind: ApiKind, signal: AbortSignal): ObjectWatch {
    return this.#objects.watch(kind, signal);
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

  async apply(manifest: string, options: ApplyOptions): Promise<ApplyResult> {
    const { api, applied } = this.#parts;
    const applying = (api?.objects ?? applied).apply(manifest, options);
    const { done, planOnly, objects, ...notes } = await applying;
    if (planOnly) return { objects: done, ...notes, findings: await this.#findings(objects, { withImages: true }) };
    await (api === undefined ? this.#seen(done) : this.#received(done));
    // images are not checked, because problems with them show up when the pods start
    const findings = await this.#findings(objects, { withImages: false }).catch((error: unknown) => {
      this.#parts.logger.warn({ error: errorMessage(error) }, 'failed to check the host after an apply');
      return [];
    });
    return { objects: done, ...notes, findings };
  }

  async remove(object: ObjectName<ApiKind>, gracePeriodSeconds: number | undefined): Promise<void> {
    const { kubelet, applied } = this.#parts;
    const removed = await applied.remove(object, () => {
      if (object.kind === 'PersistentVolumeClaim') kubelet.refuseUsedClaim(object);
    });
    // look up the object only after removing its file: until then, an apply may replace the pod
    const found = this.#objects.find(object);
    if (found === undefined) {
      if (!removed) this.#objects.get(object); // throws
      return;
    }
    // compare the file's path, because an earlier call may have removed an applied pod's file without the kubelet having noticed yet
    const file = found.metadata.annotations?.[CONFIG_FILE_ANNOTATION];
    // a PVC that pods use without a manifest has no file
    const isBare = found.kind === 'PersistentVolumeClaim' && !this.#objects.isStaticObject(object);
    const isDeletable =
      removed || isBare || found.metadata.deletionTimestamp !== undefined || file === applied.pathOf(object);
    if (!isDeletable) throw this.#fromFile('delete', found, 'remove it there');
    if (found.kind === 'PersistentVolumeClaim') kubelet.removeClaim(object);
    if (found.kind !== 'Pod') return;
    kubelet.deletePod(found.metadata.uid, gracePeriodSeconds).catch((error: unknown) => {
      this.#parts.logger.error({ pod: object.name, error: errorMessage(error) }, 'failed to delete a pod');
    });
  }

  refuseFromFile({ namespace, name }: PodName): void {
    const pod = this.#parts.kubelet.findPod(namespace, name);
    if (pod !== undefined && isStaticPod(pod)) throw this.#fromFile('delete', pod, 'remove it there');
  }

  async patch(object: ObjectName<ApiKind>, change: PatchOf<ApiObject, MetadataPatch>): Promise<ApiObject> {
    const { applied } = this.#parts;
    const found = this.#objects.get(object);
    const patched = await applied.patch(object, (file) => change(asApplied(this.#objects.get(object), file)));
    if (patched === undefined) throw this.#fromFile('patch', found, 'change it there');
    const { patch, written } = patched;
    using signal = withTimeout(undefined, SEEN_TIMEOUT_MS, `patch ${object.kind} ${object.name}`);
    const shown = () => {
      const now = this.#objects.get(object);
      return showsPatch(now.metadata, patch) || !applied.isLast(object, written) ? now : undefined;
    };
    return await waitFor(shown, { intervalMs: 5, signal });
  }

  async addEphemeralContainers({ namespace, name }: PodName, change: PatchOf<Pod, EphemeralPatch>): Promise<Pod> {
    const { kubelet } = this.#parts;
    const pod = kubelet.pod(namespace, name);
    const containers = await kubelet.changeEphemeralContainers(pod, (before) =>
      patchedContainers(before, change(withEphemeral(pod, before))),
    );
    using signal = withTimeout(undefined, SEEN_TIMEOUT_MS, `debug pod ${name}`);
    const shown = () => {
      const now = kubelet.pod(namespace, name);
      if (now.metadata.uid !== pod.metadata.uid) throw beingDeleted('debug', now);
      const names = new Set(now.spec.ephemeralContainers?.map((one) => one.name));
      return containers.every((one) => names.has(one.name)) ? now : undefined;
    };
    return await waitFor(shown, { intervalMs: 5, signal });
  }

  async resize({ namespace, name }: PodName, change: PatchOf<Pod, ResizePatch>): Promise<ApiObject> {
    const { kubelet, applied } = this.#parts;
    const object: ObjectName = { kind: 'Pod', namespace, name };
    const found = kubelet.pod(namespace, name);
    const resized = await applied.resize(object, (file) =>
      change(asApplied(kubelet.pod(namespace, name), file) as Pod),
    );
    if (resized === undefined) throw this.#fromFile('resize', found, 'change it there');
    const { patch, written } = resized;
    using signal = withTimeout(undefined, SEEN_TIMEOUT_MS, `resize pod ${name}`);
    const shown = () => {
      const now = kubelet.pod(namespace, name);
      return showsResize(now, patch) || !applied.isLast(object, written) ? now : undefined;
    };
    return await waitFor(shown, { intervalMs: 5, signal });
  }

  patchStatus({ namespace, name }: PodName, patch: ConditionsPatch): ApiObject {
    const { kubelet } = this.#parts;
    return kubelet.patchConditions(kubelet.pod(namespace, name), patch);
  }

  /** Returns the error for an object without an applied file, because it is being deleted or comes from a user's manifest. */
  #fromFile(verb: string, object: ApiObject, advice: string): PodwrightError {
    const { kind, metadata } = object;
    const file = metadata.annotations?.[CONFIG_FILE_ANNOTATION] ?? `a file in ${this.#parts.info.manifestDir}`;
    if (file === this.#parts.applied.pathOf({ ...metadata, kind })) return beingDeleted(verb, object);
    return new PodwrightError(
      'failed_precondition',
      `${verb} ${kind.toLowerCase()} ${labelOf(object)}: it comes from ${file}; ${advice}`,
    );
  }

  usage(signal: AbortSignal): Promise<UsageReport> {
    return this.#parts.kubelet.usage(signal);
  }

  hostUsage(signal: AbortSignal): Promise<ContainerUse> {
    return hostUsage(signal);
  }

  async log(pod: PodName, which: LogChoice, signal: AbortSignal): Promise<LogSource & { ended: AbortSignal }> {
    const found = this.#parts.kubelet.pod(pod.namespace, pod.name);
    const { running, ...place } = this.#parts.kubelet.containerLog(found, which);
    if (!running) return { ...place, ended: AbortSignal.abort() };
    const { path } = place;
    return { ...place, ended: endOfLog(this.#parts.kubelet, found, { container: which.container, path, signal }) };
  }

  async streamingUrl(name: PodName, call: StreamingCall): Promise<string> {
    const { kubelet } = this.#parts;
    const pod = kubelet.pod(name.namespace, name.name);
    if (call.kind === 'portforward') {
      const { id: sandboxId } = kubelet.readySandbox(pod);
      return streamUrl(kubelet.cri, { kind: 'portForward', sandboxId, ports: call.ports });
    }
    const { id: containerId } = kubelet.runningContainer(pod, call.container);
    return streamUrl(kubelet.cri, { ...call, containerId, choice: call });
  }

  restart(name: PodName, container: string | undefined): RestartAnswer {
    const pod = this.#parts.kubelet.pod(name.namespace, name.name);
    return { containers: this.#parts.kubelet.restartContainers(pod, container) };
  }

  traces(podUid: string): Promise<TraceSpan[]> {
    return this.#parts.kubelet.traces(podUid);
  }

  stop(options: StopOptions): void {
    this.#parts.stop(options);
  }

  async #findings(objects: ManifestObject[], options: { withImages: boolean }): Promise<Finding[]> {
    const { api, kubelet } = this.#parts;
    const host = await kubelet.preflightHost(options);
    if (api === undefined) return await allFindings(objects, host);
    const node = { ...host.node!, objects: await readReferences(api.client, objects) };
    return (await allFindings(objects, { ...host, node })).filter(holdsWithApi);
  }

  /**
   * Waits until the kubelet has received the new pods, so that the next command finds them. Gives up without an error, because there may be
   * no node yet that can run them.
   */
  async #received(objects: ApplyResult['objects']): Promise<void> {
    const { kubelet } = this.#parts;
    const uids = objects.flatMap(({ kind, uid = '', action }) => (kind === 'Pod' && action === 'created' ? [uid] : []));
    const known = () => new Set(kubelet.pods().map(({ metadata }) => metadata.uid));
    const areReceived = () => uids.every((uid) => known().has(uid));
    const endMs = performance.now() + RECEIVED_TIMEOUT_MS;
    while (!areReceived() && performance.now() < endMs) await sleep(2);
  }

  /** Waits until the kubelet has read these pods, except those that another call has replaced or deleted since. */
  async #seen(objects: ApplyResult['objects']): Promise<void> {
    const { kubelet, applied } = this.#parts;
    let missing = objects.filter(({ uid }) => uid !== undefined);
    const areRead = () => {
      const uids = new Set(kubelet.pods().map(({ metadata }) => metadata.uid));
      missing = missing.filter(({ uid, ...object }) => applied.hasPod(object, uid!) && !uids.has(uid!));
      return missing.length === 0 || undefined;
    };
    using signal = withTimeout(undefined, SEEN_TIMEOUT_MS, 'apply');
    await waitFor(areRead, { intervalMs: 2, signal }).catch((error: unknown) => {
      const what = `apply: the kubelet has not read ${counted(missing.length, 'pod')} yet`;
      const message = `${what}; look at 'podwright events' and the node's log`;
      throw new PodwrightError('deadline_exceeded', message, { cause: error });
    });
  }
}

const labelOf = ({ metadata: { namespace, name } }: ApiObject) => (namespace === '' ? name : `${namespace}/${name}`);

function beingDeleted(verb: string, object: ApiObject): PodwrightError {
  const message = `${verb} ${object.kind.toLowerCase()} ${labelOf(object)}: it is being deleted`;
  return new PodwrightError('failed_precondition', message);
}
