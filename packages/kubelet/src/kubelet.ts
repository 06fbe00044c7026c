import { PodwrightError, type Subscription } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import type { PodEvents } from '@podwright/kube-api';
import {
  absentObject,
  type EphemeralContainer,
  type Event,
  type ExistingPod,
  formatTime,
  isStaticPod,
  type LocalObjects,
  type ManifestError,
  namespacedName,
  type PersistentVolumeClaim,
  type Pod,
  type PodUpdate,
} from '@podwright/kube-api';
import type { NodePressure } from '@podwright/kubelet-configuration';
import { existingPod } from '@podwright/pod-config';
import { type ClaimVolumes, claimObjects, refuseUsedClaim } from '@podwright/volumes';
import type { EnforcedLimits, PodCgroups } from './cgroups/pod-cgroups.ts';
import { podIdentity } from './kubecontainer/pod-identity.ts';
import {
  emptyRuntimePod,
  type RuntimeContainer,
  type RuntimePodStatus,
  type RuntimeSandbox,
} from './kubecontainer/runtime-pod.ts';
import type { CrashBackoff } from './kuberuntime/crash-backoff.ts';
import type { LogSource } from './logs/container-logs.ts';
import { type NodeFacts, type NodeObject, nodeObject } from './node/node-object.ts';
import type { KubeletOptions } from './options.ts';
import type { PodStatusCache } from './pleg/pod-status-cache.ts';
import { planRestart } from './pod/container-restart-request.ts';
import type { EphemeralChange, EphemeralContainers } from './pod/ephemeral-containers.ts';
import type { NodeFacts as PodNodeFacts } from './pod/pod-admission.ts';
import { containerLog, type LogOfContainer, readySandbox, runningContainer } from './pod/pod-containers.ts';
import type { PodManager } from './pod/pod-manager.ts';
import type { PodWorkers } from './pod/pod-workers.ts';
import type { RestartRequests } from './pod/restart-requests.ts';
import type { PreflightHost } from './preflight/preflight.ts';
import { hostOf } from './preflight/preflight-host.ts';
import type { RuntimeState } from './runtime-state/runtime-state.ts';
import type { SummaryProvider } from './stats/summary-provider.ts';
import { type ConditionsPatch, withForeignConditions } from './status/foreign-conditions.ts';
import type { PodChange, StatusManager } from './status/status-manager.ts';
import type { PodTracer, TraceSpan } from './trace/pod-tracer.ts';
import { runtimeSpans } from './trace/runtime-spans.ts';
import type { ContainerUsage, UsageReport } from './usage/container-usage.ts';

/**
 * The kubelet is unhealthy if its last status request to the container runtime was longer ago than this (upstream's minimum for its
 * `syncloop` check).
 */
const SYNC_LOOP_THRESHOLD_MS = 120_000;

export type KubeletDependencies = {
  options: KubeletOptions;
  cri: CriClient;
  version: { name: string; version: string };
  statuses: StatusManager;
  events: PodEvents;
  manager: PodManager;
  workers: PodWorkers;
  /** The resources and features that the node currently offers to pods. */
  offer: () => PodNodeFacts;
  tracer: PodTracer;
  cache: PodStatusCache;
  objects: LocalObjects;
  claims: ClaimVolumes;
  cgroups: PodCgroups;
  node: NodeFacts;
  /** DNS names and addresses from the Node object; empty if the node is not in a cluster. */
  servingNames: () => string[];
  usage: ContainerUsage;
  summary: SummaryProvider;
  pressure: Pick<NodePressure, 'conditions' | 'reasons' | 'detailOf'>;
  runtimeState: Pick<RuntimeState, 'sinceCheckMs' | 'networkNote'>;
  /** Returns the reasons why the node is not ready for pods. */
  problems: () => string[];
  manifestErrors: () => ManifestError[];
  crashBackoff: CrashBackoff;
  /** Returns the pod with its allocated resources, which a deferred resize leaves unchanged. */
  allocated: (pod: Pod) => Pod;
  restarts: RestartRequests;
  ephemeral: EphemeralContainers;
  /** Handles a pod change made by a client rather than a pod source. */
  update: (update: PodUpdate) => void;
  sourcesReady: Promise<void>;
  endPods: (how: EndPods) => Promise<boolean>;
  close: () => Promise<void>;
};

/**
 * Which pods to stop: those from manifests and, if `ofApi` is set, also those from an API server. The grace period defaults to each pod's
 * own.
 */
export type EndPods = { ofApi: boolean; gracePeriodSeconds?: number };

/** Node-level defaults for pods that do not set their own: the containers' default seccomp profile, and limits. */
export type PodDefaults = EnforcedLimits & {
  seccomp: 'RuntimeDefault' | 'Unconfined';
  /** Whether containers get the NET_RAW capability unless they drop it. Earlier versions do not report this. */
  netRaw?: boolean;
};

/** Refuses to change a pod that comes from an API server: throws `failed_precondition`, because it must be changed there. */
function refuseOfApiServer(pod: Pod, what: string): void {
  if (isStaticPod(pod)) return;
  const message = `${what} pod ${namespacedName(pod)}: it is the API server's, so do it there, by kubectl for example`;
  throw new PodwrightError('failed_precondition', message);
}

/** The streams to open to a container; at least one of stdin, stdout and stderr is true. */
export type StreamOptions = { stdin: boolean; stdout: boolean; stderr: boolean; tty: boolean };

/** A running kubelet, as used by its API servers. Errors name the requested object; a missing object is `not_found`. */
export class Kubelet {
  readonly #parts: KubeletDependencies;
  /**
   * Resolves once every pod source has been read and the leftovers of pods that disappeared from the sources before the kubelet started
   * have been removed.
   */
  readonly sourcesReady: Promise<void>;
  readonly runtime: { name: string; version: string; apiVersion: string; endpoint: string };
  readonly podDefaults: PodDefaults;
  #areSourcesReady = false;

  constructor(parts: KubeletDependencies) {
    this.#parts = parts;
    this.sourcesReady = parts.sourcesReady;
    const noteReady = () => {
      this.#areSourcesReady = true;
    };
    parts.sourcesReady.then(noteReady, () => undefined);
    const endpoint = parts.options.runtimeEndpoint;
    this.runtime = { ...parts.version, apiVersion: parts.cri.apiVersion, endpoint };
    const seccomp = parts.options.seccompDefault ? 'RuntimeDefault' : 'Unconfined';
    this.podDefaults = { seccomp, netRaw: parts.options.netRawDefault, ...parts.cgroups.enforced };
  }

  /** The reasons why the node is not ready, in upstream's wording: errors of the container runtime and its network, or a node shutdown. */
  get problems(): string[] {
    return this.#parts.problems();
  }

  /** The pod network's error, or the container runtime's note about the network; `undefined` if there is neither. */
  get networkNote(): string | undefined {
    return this.#parts.runtimeState.networkNote();
  }

  /**
   * The node's pressure conditions, which cause pods to be rejected and evicted. `reasons` is empty if no threshold is met and the
   * condition only persists because of its transition period.
   */
  get pressure(): { conditions: readonly string[]; reasons: readonly string[]; detail: string } {
    const { pressure } = this.#parts;
    const { conditions, reasons } = pressure;
    return { conditions, reasons, detail: pressure.detailOf('DiskPressure') };
  }

  /** Why the kubelet itself is unhealthy, for liveness checks and systemd's watchdog; `undefined` if it is healthy. */
  get unhealthyReason(): string | undefined {
    const sinceMs = this.#parts.runtimeState.sinceCheckMs();
    return sinceMs < SYNC_LOOP_THRESHOLD_MS ? undefined : 'sync Loop took longer than expected';
  }

  /** Whether `sourcesReady` has resolved. */
  get areSourcesReady(): boolean {
    return this.#areSourcesReady;
  }

  /** The node's PersistentVolumeClaims, including claims used by pods that have no claim object. */
  claims(): PersistentVolumeClaim[] {
    return claimObjects(this.objects.list(), this.#parts.claims.list());
  }

  /** Throws `failed_precondition` if pods use the claim. */
  refuseUsedClaim(claim: { namespace: string; name: string }): void {
    refuseUsedClaim(this.pods(), claim);
  }

  /** Deletes a claim's directory with all of its contents. */
  removeClaim({ namespace, name }: { namespace: string; name: string }): void {
    this.#parts.claims.remove(namespace, name);
  }

  get objects(): LocalObjects {
    return this.#parts.objects;
  }

  get cri(): CriClient {
    return this.#parts.cri;
  }

  /** Returns every pod with its status. Finished pods are included as long as their manifests exist. */
  pods(): Pod[] {
    return this.#parts.statuses.pods();
  }

  /** Returns the pod with this name. If there are two, prefers the one that is not being deleted. */
  findPod(namespace: string, name: string): Pod | undefined {
    const named = this.pods().filter(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
    return named.find(({ metadata }) => metadata.deletionTimestamp === undefined) ?? named[0];
  }

  /** Like `findPod`, but throws `not_found`. */
  pod(namespace: string, name: string): Pod {
    const found = this.findPod(namespace, name);
    if (found !== undefined) return found;
    throw absentObject({ kind: 'Pod', namespace, name }, this.pods());
  }

  /** Returns the pod with this UID: one that has a worker, or one that still exists in the container runtime. */
  podOfUid(uid: string): ExistingPod | undefined {
    const { workers, cache } = this.#parts;
    const known = workers.podOf(uid);
    return known === undefined ? cache.get(uid)?.status.sandboxes[0]?.owner : existingPod(known);
  }

  /** Returns the pod with this name from the pod sources. */
  wantedPod(namespace: string, name: string): ExistingPod | undefined {
    const pods = this.#parts.manager.list();
    const found = pods.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
    return found && existingPod(found);
  }

  /** Subscribes to pod changes from now on. Call `pods()` right after this for the initial state. */
  watch(signal: AbortSignal): Subscription<PodChange> {
    return this.#parts.statuses.subscribe(signal);
  }

  events(): Event[] {
    return this.#parts.events.list();
  }

  watchEvents(signal: AbortSignal): Subscription<Event> {
    return this.#parts.events.subscribe(signal);
  }

  /** Current errors in the manifests of the pod sources. */
  manifestErrors(): ManifestError[] {
    return this.#parts.manifestErrors();
  }

  /** Returns the node's state, for checking pods before they are applied. Images are listed only with `withImages`. */
  async preflightHost({ withImages }: { withImages: boolean }): Promise<PreflightHost> {
    const { options, cri, objects, offer } = this.#parts;
    const { images } = withImages ? await cri.image.listImages({}) : {};
    const names = images?.flatMap(({ repoTags, repoDigests }) => [...repoTags, ...repoDigests]);
    return {
      ...hostOf(options, offer()),
      node: { objects, pods: this.pods(), ...(names === undefined ? {} : { images: new Set(names) }) },
    };
  }

  /**
   * Stops a pod and resolves once all of its containers, files and records have been removed. If its manifest still exists, the pod is
   * created again. A second call can shorten the grace period.
   */
  deletePod(uid: string, gracePeriodSeconds?: number): Promise<void> {
    const { statuses, workers } = this.#parts;
    const pod = statuses.pod(uid);
    if (pod === undefined || !workers.has(uid)) return Promise.resolve();
    refuseOfApiServer(pod, 'delete');
    return workers.end(pod, { gracePeriodSeconds, remove: true, keepsRecreation: true });
  }

  node(): NodeObject {
    return nodeObject(this.#parts.node, this.#areSourcesReady, this.problems);
  }

  /** Current resource usage of the containers. */
  usage(signal: AbortSignal): Promise<UsageReport> {
    return this.#parts.usage.report(signal);
  }

  /** Provides the resource usage of the node, its pods and their containers: either all resources, or only CPU, memory and swap. */
  get summary(): SummaryProvider {
    return this.#parts.summary;
  }

  /** The startup options, with `systemReserved` resolved to numbers. */
  get options(): KubeletOptions {
    return this.#parts.options;
  }

  /** The host's addresses, primary first. */
  get addresses(): string[] {
    return this.#parts.node.addresses;
  }

  /**
   * DNS names and addresses currently in the Node object, for the serving certificate of the kubelet's API; empty if the node is not in a
   * cluster.
   */
  get servingNames(): string[] {
    return this.#parts.servingNames();
  }

  get memoryBytes(): number {
    return Number(this.#parts.node.capacity.memory);
  }

  runtimePods(): RuntimePodStatus[] {
    return this.#parts.cache.list();
  }

  /** Returns the spans of the pod's steps, plus the container runtime's own spans for calls made by those steps. */
  async traces(podUid: string): Promise<TraceSpan[]> {
    const steps = this.#parts.tracer.spans(podUid);
    return [...steps, ...(await runtimeSpans(this.#parts.cri, steps))];
  }

  /** Returns the location of a container's log. Throws the same errors as `containerLog` in pod-containers.ts. */
  containerLog(pod: Pod, which: LogOfContainer): LogSource & { running: boolean } {
    const { podLogsDir, legacyLogs } = this.#parts.options;
    return containerLog(pod, this.#runtimePod(pod), { ...which, podLogsDir, legacyLogs });
  }

  /**
   * Returns the running container with this name; '' selects the first ordinary container. Throws the same errors as `runningContainer` in
   * pod-containers.ts.
   */
  runningContainer(pod: Pod, name: string): RuntimeContainer {
    return runningContainer(pod, this.#runtimePod(pod), name);
  }

  /** Returns the sandbox that holds the pod's network. Throws `failed_precondition` if the pod is not running. */
  readySandbox(pod: Pod): RuntimeSandbox {
    return readySandbox(pod, this.#runtimePod(pod));
  }

  /**
   * Gracefully stops the pods from manifests and, with `ofApi`, also those from an API server, and starts no more pods. Resolves once they
   * have been removed, with true if no pods are left. Manifests are not removed, nor are the statuses of pods that had already finished. If
   * called again, the shorter grace period applies.
   */
  endPods(how: EndPods): Promise<boolean> {
    return this.#parts.endPods(how);
  }

  /**
   * Restarts one of a pod's containers in place or, if no name is given, all except init and ephemeral containers. They are stopped like
   * after a failed liveness probe and started again without crash back-off. Returns their names without waiting. Throws the same errors as
   * `planRestart`.
   */
  restartContainers(shown: Pod, containerName: string | undefined): string[] {
    const { restarts, workers, crashBackoff, allocated } = this.#parts;
    const pod = allocated(shown);
    const { stop, hurry } = planRestart(pod, this.#runtimePod(pod), containerName);
    restarts.add(
      pod.metadata.uid,
      stop.map(({ id }) => id),
    );
    for (const container of hurry) crashBackoff.hurry(pod, container);
    workers.retry(pod.metadata.uid);
    return [...stop, ...hurry].map(({ name }) => name);
  }

  /**
   * Replaces a pod's ephemeral containers with the result of applying `change` to the current ones, and returns them. Rejects with
   * `failed_precondition` if the pod has finished or is being deleted, and with `invalid_argument` if a container is invalid.
   */
  async changeEphemeralContainers(pod: Pod, change: EphemeralChange): Promise<EphemeralContainer[]> {
    const { manager, ephemeral, update } = this.#parts;
    const { phase } = pod.status ?? {};
    refuseOfApiServer(pod, 'add a container to');
    if (phase === 'Succeeded' || phase === 'Failed')
      throw new PodwrightError('failed_precondition', `debug pod ${namespacedName(pod)}: it has ended (${phase})`);
    const containers = await ephemeral.change(pod, change, () => manager.get(pod.metadata.uid)?.pod);
    const known = manager.get(pod.metadata.uid); // the manifest may have changed during the write
    if (known !== undefined) update({ operation: 'UPDATE', source: known.source, pods: [known.pod] });
    return containers;
  }

  /**
   * Sets pod conditions that are not owned by the kubelet, and returns the pod. Throws `invalid_argument` for a condition owned by the
   * kubelet.
   */
  patchConditions(pod: Pod, patch: ConditionsPatch): Pod {
    const { uid, namespace, name } = pod.metadata;
    const now = formatTime(Date.now());
    refuseOfApiServer(pod, 'patch the status of');
    if (this.#parts.statuses.get(uid) === undefined)
      throw new PodwrightError(
        'failed_precondition',
        `patch the status of pod ${namespacedName(pod)}: it has not begun`,
      );
    this.#parts.statuses.change(uid, (pod, status) => withForeignConditions(pod, status, { patch, now }));
    return this.pod(namespace, name);
  }

  /** Stops the kubelet. Containers keep running. */
  close(): Promise<void> {
    return this.#parts.close();
  }

  #runtimePod(pod: Pod): RuntimePodStatus {
    return this.#parts.cache.get(pod.metadata.uid)?.status ?? emptyRuntimePod(podIdentity(pod));
  }
}
