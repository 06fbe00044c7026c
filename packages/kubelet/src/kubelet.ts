import { PodwrightError, type Subscription } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
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
import { type ClaimVolumes, claimObjects, refuseUsedClaim } from '@podwright/volumes';
import type { EnforcedLimits, PodCgroups } from './cgroups/pod-cgroups.ts';
import { existingPod } from './config/pod-config.ts';
import type { PodEvents } from './events/pod-events.ts';
import { podIdentity } from './kubecontainer/pod-identity.ts';
import {
  emptyRuntimePod,
  type RuntimeContainer,
  type RuntimePodStatus,
  type RuntimeSandbox,
} from './kubecontainer/runtime-pod.ts';
import type { CrashBackoff } from './kuberuntime/crash-backoff.ts';
import type { LogPlace } from './logs/container-logs.ts';
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

/** A kubelet that has not asked for the runtime's status for this long is unhealthy (upstream's minimum for its `syncloop` check). */
const SYNC_LOOP_THRESHOLD_MS = 120_000;

export type KubeletDependencies = {
  options: KubeletOptions;
  cri: CriClient;
  version: { name: string; version: string };
  statuses: StatusManager;
  events: PodEvents;
  manager: PodManager;
  workers: PodWorkers;
  /** What the node offers to pods now. */
  offer: () => PodNodeFacts;
  tracer: PodTracer;
  cache: PodStatusCache;
  objects: LocalObjects;
  claims: ClaimVolumes;
  cgroups: PodCgroups;
  node: NodeFacts;
  /** What a cluster calls the node by; none without a cluster. */
  servingNames: () => string[];
  usage: ContainerUsage;
  summary: SummaryProvider;
  pressure: Pick<NodePressure, 'conditions' | 'reasons'>;
  runtimeState: Pick<RuntimeState, 'sinceCheckMs' | 'networkNote'>;
  /** Why the node is not ready for pods. */
  problems: () => string[];
  /** What is wrong with the manifests now. */
  manifestErrors: () => ManifestError[];
  crashBackoff: CrashBackoff;
  /** The pod with the resources that it has been given, which a resize that waits has not changed yet. */
  allocated: (pod: Pod) => Pod;
  restarts: RestartRequests;
  ephemeral: EphemeralContainers;
  /** Takes a change of a pod that comes from no source. */
  update: (update: PodUpdate) => void;
  sourcesReady: Promise<void>;
  endPods: (how: EndPods) => Promise<boolean>;
  close: () => Promise<void>;
};

/** Which pods end with the kubelet, and how much time they have; without it each pod's own. */
export type EndPods = { ofApi: boolean; gracePeriodSeconds?: number };

/** What holds for pods that say nothing about it themselves: the seccomp profile of their containers, and limits. */
export type PodDefaults = EnforcedLimits & {
  seccomp: 'RuntimeDefault' | 'Unconfined';
  /** Whether containers have the capability NET_RAW unless they drop it; a node of an earlier version does not report it. */
  netRaw?: boolean;
};

/** What an API server says of a pod is said there. Throws `failed_precondition`. */
function refuseOfApiServer(pod: Pod, what: string): void {
  if (isStaticPod(pod)) return;
  const message = `${what} pod ${namespacedName(pod)}: it is the API server's, so do it there, by kubectl for example`;
  throw new PodwrightError('failed_precondition', message);
}

/** How to stream with a container; at least one of the streams. */
export type StreamOptions = { stdin: boolean; stdout: boolean; stderr: boolean; tty: boolean };

/** A running kubelet, for the servers of its API. Errors name what was asked for; `not_found` if there is none. */
export class Kubelet {
  readonly #parts: KubeletDependencies;
  /** Resolves when every source has been read once and what was left of other pods before the start has been removed. */
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

  /** Why the node is not ready for pods, in upstream's words: of the runtime, its network, and the host's shutdown. */
  get problems(): string[] {
    return this.#parts.problems();
  }

  /** What is to be known of the pods' network; none while all is well. */
  get networkNote(): string | undefined {
    return this.#parts.runtimeState.networkNote();
  }

  /** What the node is short of, so that pods are refused and evicted, and why in words; `reasons` are none while it only lasts on. */
  get pressure(): { conditions: readonly string[]; reasons: readonly string[] } {
    const { conditions, reasons } = this.#parts.pressure;
    return { conditions, reasons };
  }

  /** Why the kubelet itself is unhealthy, for liveness checks and systemd's watchdog; `undefined` while it is healthy. */
  get unhealthyReason(): string | undefined {
    const sinceMs = this.#parts.runtimeState.sinceCheckMs();
    return sinceMs < SYNC_LOOP_THRESHOLD_MS ? undefined : 'sync Loop took longer than expected';
  }

  /** Whether `sourcesReady` has resolved. */
  get areSourcesReady(): boolean {
    return this.#areSourcesReady;
  }

  /** The claims of the node: those of manifests, and those that pods use without an object. */
  claims(): PersistentVolumeClaim[] {
    return claimObjects(this.objects.list(), this.#parts.claims.list());
  }

  /** Throws `failed_precondition` if pods use the claim. */
  refuseUsedClaim(claim: { namespace: string; name: string }): void {
    refuseUsedClaim(this.pods(), claim);
  }

  /** Deletes a claim's directory and what is in it. */
  removeClaim({ namespace, name }: { namespace: string; name: string }): void {
    this.#parts.claims.remove(namespace, name);
  }

  get objects(): LocalObjects {
    return this.#parts.objects;
  }

  /** The runtime's images and transfers, over the kubelet's own connection. */
  get cri(): CriClient {
    return this.#parts.cri;
  }

  /** Every pod with its status, ended ones too as long as their manifest is there. */
  pods(): Pod[] {
    return this.#parts.statuses.pods();
  }

  /** The pod of this name, if there is one; of two the one that is not being deleted. */
  findPod(namespace: string, name: string): Pod | undefined {
    const named = this.pods().filter(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
    return named.find(({ metadata }) => metadata.deletionTimestamp === undefined) ?? named[0];
  }

  /** As `findPod`; throws `not_found`. */
  pod(namespace: string, name: string): Pod {
    const found = this.findPod(namespace, name);
    if (found !== undefined) return found;
    throw absentObject({ kind: 'Pod', namespace, name }, this.pods());
  }

  /** The pod that has this UID: one of a manifest, or one that is still in the runtime. */
  podOfUid(uid: string): ExistingPod | undefined {
    const { workers, cache } = this.#parts;
    const known = workers.podOf(uid);
    return known === undefined ? cache.get(uid)?.status.sandboxes[0]?.owner : existingPod(known);
  }

  /** The pod of this name that a manifest asks for. */
  wantedPod(namespace: string, name: string): ExistingPod | undefined {
    const pods = this.#parts.manager.list();
    const found = pods.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
    return found && existingPod(found);
  }

  /** Changes of pods from this call on; call `pods()` right after it for the state to begin with. */
  watch(signal: AbortSignal): Subscription<PodChange> {
    return this.#parts.statuses.subscribe(signal);
  }

  events(): Event[] {
    return this.#parts.events.list();
  }

  watchEvents(signal: AbortSignal): Subscription<Event> {
    return this.#parts.events.subscribe(signal);
  }

  /** What is wrong with the manifests of the sources now. */
  manifestErrors(): ManifestError[] {
    return this.#parts.manifestErrors();
  }

  /** What pods meet that are applied now; of images nothing is said unless they are looked at. */
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
   * Ends a pod and removes every trace of it. Resolves when it is gone. Its manifest must go too, or the pod comes back.
   * A second call with a shorter grace period hurries it.
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

  /** What the containers use now. */
  usage(signal: AbortSignal): Promise<UsageReport> {
    return this.#parts.usage.report(signal);
  }

  /** What the node, its pods and their containers use, in full or CPU, memory and swap alone. */
  get summary(): SummaryProvider {
    return this.#parts.summary;
  }

  /** What it was started with. */
  get options(): KubeletOptions {
    return this.#parts.options;
  }

  /** Addresses of the node, primary first. */
  get addresses(): string[] {
    return this.#parts.node.addresses;
  }

  /** DNS names and addresses by which a cluster calls the node, as its node object has them now; none without a cluster. */
  get servingNames(): string[] {
    return this.#parts.servingNames();
  }

  /** Memory of the node, in bytes. */
  get memoryBytes(): number {
    return Number(this.#parts.node.capacity.memory);
  }

  /** The pods that the runtime has. */
  runtimePods(): RuntimePodStatus[] {
    return this.#parts.cache.list();
  }

  /** The steps of a pod, and what the runtime did for them. */
  async traces(podUid: string): Promise<TraceSpan[]> {
    const steps = this.#parts.tracer.spans(podUid);
    return [...steps, ...(await runtimeSpans(this.#parts.cri, steps))];
  }

  /** Where a container's log is. Errors: those of `containerLog`. */
  containerLog(pod: Pod, which: LogOfContainer): LogPlace & { running: boolean } {
    const { podLogsDir, legacyLogs } = this.#parts.options;
    return containerLog(pod, this.#runtimePod(pod), { ...which, podLogsDir, legacyLogs });
  }

  /** A container of the pod that runs, '' for the first. Errors: those of `runningContainer`. */
  runningContainer(pod: Pod, name: string): RuntimeContainer {
    return runningContainer(pod, this.#runtimePod(pod), name);
  }

  /** What has the pod's network. Throws `failed_precondition` if the pod does not run. */
  readySandbox(pod: Pod): RuntimeSandbox {
    return readySandbox(pod, this.#runtimePod(pod));
  }

  /**
   * Ends the pods of manifests gracefully, those of an API server too with `ofApi`, and takes up no other any more. Resolves when they are
   * gone, with whether no pod is left; their manifests stay, and so do the statuses of those that had ended before. Called again, a
   * shorter grace period wins.
   */
  endPods(how: EndPods): Promise<boolean> {
    return this.#parts.endPods(how);
  }

  /**
   * Restarts the containers of a pod in place, all ordinary ones or one: they are stopped as by a failed liveness probe and started
   * again at once, whatever crashes went before. Returns their names; they are not waited for. Errors: those of `planRestart`.
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
   * Gives a pod the ephemeral containers that `change` returns, and returns them; `change` gets those that the pod has.
   * `failed_precondition` for a pod that has ended or is being deleted, `invalid_argument` for containers that are not valid.
   */
  async changeEphemeralContainers(pod: Pod, change: EphemeralChange): Promise<EphemeralContainer[]> {
    const { manager, ephemeral, update } = this.#parts;
    const { phase } = pod.status ?? {};
    refuseOfApiServer(pod, 'add a container to');
    if (phase === 'Succeeded' || phase === 'Failed')
      throw new PodwrightError('failed_precondition', `debug pod ${namespacedName(pod)}: it has ended (${phase})`);
    const containers = await ephemeral.change(pod, change, () => manager.get(pod.metadata.uid)?.pod);
    const known = manager.get(pod.metadata.uid); // its manifest may have changed while the file was written
    if (known !== undefined) update({ operation: 'UPDATE', source: known.source, pods: [known.pod] });
    return containers;
  }

  /** Sets conditions of a pod that others own, and returns the pod. `invalid_argument` for one of the kubelet's. */
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

  /** Stops the kubelet; containers go on. */
  close(): Promise<void> {
    return this.#parts.close();
  }

  #runtimePod(pod: Pod): RuntimePodStatus {
    return this.#parts.cache.get(pod.metadata.uid)?.status ?? emptyRuntimePod(podIdentity(pod));
  }
}
