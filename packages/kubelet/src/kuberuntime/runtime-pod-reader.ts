/** Reads pods from the container runtime through the CRI, and converts them to the kubelet's own types. */
import { isNotFound } from '@podwright/base';
import {
  type Container,
  type ContainerEventResponse,
  ContainerEventType,
  ContainerSchema,
  ContainerState,
  type ContainerStatus,
  type CriClient,
  type ListContainersResponse,
  ListContainersResponseSchema,
  type ListPodSandboxResponse,
  ListPodSandboxResponseSchema,
  type PodSandbox,
  PodSandboxSchema,
  PodSandboxState,
  type PodSandboxStatus,
  Signal,
} from '@podwright/cri';
import { decodedList } from '@podwright/grpc';
import { absolutePath } from '../container/container-mounts.ts';
import { type EndedContainer, terminationMessage } from '../container/termination-message.ts';
import { MAX_CONDITION_REASON_LENGTH } from '../kubecontainer/limits.ts';
import type { PodIdentity } from '../kubecontainer/pod-identity.ts';
import type {
  RuntimeContainer,
  RuntimeContainerState,
  RuntimePodStatus,
  RuntimeSandbox,
  SandboxSnapshot,
} from '../kubecontainer/runtime-pod.ts';
import {
  type ContainerInfo,
  decodeContainerInfo,
  decodePodIdentity,
  decodeSandboxOwner,
  isOfKubelet,
  labelSelector,
} from './labels.ts';
import { REASON_SETTLES_MS } from './limits.ts';
import type { SandboxNetworks } from './sandbox-networks.ts';

type LegacyLogs = NonNullable<EndedContainer['legacyLog']>['logs'];

const STATE_NAMES: Record<ContainerState, RuntimeContainerState> = {
  [ContainerState.CONTAINER_CREATED]: 'created',
  [ContainerState.CONTAINER_RUNNING]: 'running',
  [ContainerState.CONTAINER_EXITED]: 'exited',
  [ContainerState.CONTAINER_UNKNOWN]: 'unknown',
};

const NANOS_PER_MS = 1_000_000n;
const toMs = (nanos: bigint) => Number(nanos / NANOS_PER_MS);

/** A pod from the CRI's list calls, with enough information to detect changes. */
export type ListedPod = {
  pod: PodIdentity;
  sandboxes: { id: string; state: string; createdAtMs: number }[];
  containers: { id: string; name: string; state: RuntimeContainerState; sandboxId: string; createdAtMs: number }[];
};

export type RuntimePodReaderOptions = {
  cri: CriClient;
  networks: SandboxNetworks;
  /** Identifies this kubelet: sandboxes and containers with another kubelet's ID are not read. */
  kubeletId: string;
  /** The scheme in the container IDs of pod statuses, such as `containerd`. */
  runtimeName: string;
  legacyLogs?: LegacyLogs;
};

/** A list of all pods, and the CRI responses it was built from. */
type Listing = {
  sandboxes: ListPodSandboxResponse;
  containers: ListContainersResponse;
  pods: ReadonlyMap<string, ListedPod>;
  sandboxIds: ReadonlySet<string>;
  containerIds: ReadonlySet<string>;
};

/** An exited container, when its exit was first seen (monotonic), and whether its exit reason is final. */
type KnownEnd = { container: RuntimeContainer; sinceMs: number; isSettled: boolean };

/** Exit code of a process killed by SIGKILL. */
const EXIT_CODE_KILLED = 137;

/**
 * Reads pods from the container runtime. Exited containers are cached, because they no longer change, except for the exit reason, which may
 * be reported late.
 */
export class RuntimePodReader {
  readonly #cri: CriClient;
  readonly #options: RuntimePodReaderOptions;
  readonly #ended = new Map<string, KnownEnd>();
  /**
   * Decoders for the CRI's lists of all sandboxes and all containers. A decoder returns its previous result if the bytes of the response
   * have not changed.
   */
  readonly #decodeSandboxes = decodedList({ list: ListPodSandboxResponseSchema, element: PodSandboxSchema });
  readonly #decodeContainers = decodedList({ list: ListContainersResponseSchema, element: ContainerSchema });
  #last: Listing | undefined;

  constructor(options: RuntimePodReaderOptions) {
    this.#options = options;
    this.#cri = options.cri;
  }

  /** Returns this kubelet's pods in the container runtime, by UID. Returns the same map as the previous call if nothing has changed. */
  async listPods(signal?: AbortSignal): Promise<ReadonlyMap<string, ListedPod>> {
    const filter = { labelSelector: labelSelector(this.#options.kubeletId, undefined) };
    const [sandboxes, containers] = await Promise.all([
      this.#cri.runtime.listPodSandbox({ filter }, { signal, decode: this.#decodeSandboxes }),
      this.#cri.runtime.listContainers({ filter }, { signal, decode: this.#decodeContainers }),
    ]);
    if (sandboxes !== this.#last?.sandboxes || containers !== this.#last.containers)
      this.#last = listing(sandboxes, containers);
    this.#forgetEnds(this.#last.containerIds);
    this.#options.networks.keep(this.#last.sandboxIds);
    return this.#last.pods;
  }

  /** Returns the full status of a pod, excluding containers and sandboxes removed while it is being read. */
  async podStatus(pod: PodIdentity, signal?: AbortSignal): Promise<RuntimePodStatus> {
    const [sandboxes, containers] = await this.#listOf(pod.uid, signal);
    const newest = sandboxes.toSorted(newestFirst);
    const [readSandboxes, readContainers] = await Promise.all([
      Promise.all(newest.map((sandbox) => this.#sandbox(sandbox, sandbox === newest[0], signal))),
      Promise.all(containers.toSorted(newestFirst).map((container) => this.#container(container, signal))),
    ]);
    return {
      pod,
      sandboxes: readSandboxes.filter((sandbox) => sandbox !== undefined),
      containers: readContainers.filter((container) => container !== undefined),
    };
  }

  /**
   * Decodes an event about one of this kubelet's pods; `undefined` if the event has no pod or belongs to another kubelet's pod. `snapshot`
   * is absent if the event does not include the container's status.
   */
  async readEvent(
    event: ContainerEventResponse,
  ): Promise<{ pod: PodIdentity; snapshot?: SandboxSnapshot } | undefined> {
    const { podSandboxStatus: sandbox, containersStatuses, containerId, containerEventType } = event;
    if (sandbox === undefined || !isOfKubelet(sandbox.labels, this.#options.kubeletId)) return undefined;
    const pod = decodePodIdentity(sandbox.labels);
    if (pod === undefined) return undefined;
    const { id } = sandbox;
    const deleted = containerEventType === ContainerEventType.CONTAINER_DELETED_EVENT;
    if (deleted && containerId === id) return { pod, snapshot: { id, sandbox: undefined, containers: [] } };
    const hasStatus = deleted || containerId === id || containersStatuses.some((one) => one.id === containerId);
    if (!hasStatus) return { pod };
    const containers = await Promise.all(containersStatuses.map((status) => this.#decodeContainer(status, id)));
    const facts = { ...sandboxFacts(sandbox), ...this.#options.networks.note(sandbox) };
    return { pod, snapshot: { id, sandbox: facts, containers: containers.filter((one) => one !== undefined) } };
  }

  async #listOf(podUid: string, signal?: AbortSignal): Promise<[PodSandbox[], Container[]]> {
    const filter = { labelSelector: labelSelector(this.#options.kubeletId, podUid) };
    const [sandboxes, containers] = await Promise.all([
      this.#cri.runtime.listPodSandbox({ filter }, { signal }),
      this.#cri.runtime.listContainers({ filter }, { signal }),
    ]);
    return [sandboxes.items, containers.containers];
  }

  /**
   * Reads a sandbox. Only the network of a pod's newest sandbox is read from the container runtime; for older sandboxes, the list response
   * is enough.
   */
  async #sandbox(listed: PodSandbox, newest: boolean, signal?: AbortSignal): Promise<RuntimeSandbox | undefined> {
    if (!newest) return { ...sandboxFacts(listed), hostNetwork: false, ips: [] };
    const network = await this.#options.networks.of(listed.id, signal);
    return network && { ...sandboxFacts(listed), ...network };
  }

  /**
   * Whether the exit reason of any of the pod's containers might still change, which is possible for up to `REASON_SETTLES_MS` after the
   * exit was first seen.
   */
  isUnsettled({ containers }: RuntimePodStatus): boolean {
    return containers.some(({ id }) => this.#ended.get(id)?.isSettled === false);
  }

  async #container(listed: Container, signal?: AbortSignal): Promise<RuntimeContainer | undefined> {
    const known = this.#ended.get(listed.id);
    if (known?.isSettled) return known.container;
    try {
      const { status } = await this.#cri.runtime.containerStatus({ containerId: listed.id }, { signal });
      if (status === undefined) return undefined;
      return await this.#decodeContainer(status, listed.podSandboxId);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async #decodeContainer(status: ContainerStatus, sandboxId: string): Promise<RuntimeContainer | undefined> {
    const known = this.#ended.get(status.id);
    if (known !== undefined) return readAgain(known, status);
    const info = decodeContainerInfo(status.labels, status.annotations);
    if (info === undefined) return undefined;
    const exited = status.state === ContainerState.CONTAINER_EXITED;
    const ownMessage = exited ? await readTerminationMessage(status, info, this.#options.legacyLogs) : '';
    const container: RuntimeContainer = {
      id: status.id,
      containerId: `${this.#options.runtimeName}://${status.id}`,
      sandboxId,
      name: info.containerName,
      state: STATE_NAMES[status.state],
      createdAtMs: toMs(status.createdAt),
      startedAtMs: toMs(status.startedAt),
      finishedAtMs: toMs(status.finishedAt),
      exitCode: status.exitCode,
      reason: reasonOf(status),
      message: [status.message, ownMessage].filter((text) => text !== '').join(': '),
      image: status.image?.userSpecifiedImage || status.image?.image || '',
      imageId: status.imageRef,
      hash: info.hash,
      restartCount: info.restartCount,
      terminationGracePeriodSeconds: info.terminationGracePeriodSeconds,
      logPath: status.logPath,
      ...startedAs(status),
      preStop: info.preStop,
      ...(info.listed && { listed: info.listed }),
      resources: info.resources,
      ...limitsOf(status),
    };
    if (exited)
      this.#ended.set(container.id, {
        container,
        sinceMs: performance.now(),
        isSettled: !mayBeOutOfMemory(container),
      });
    return container;
  }

  #forgetEnds(existing: ReadonlySet<string>): void {
    for (const id of this.#ended.keys()) if (!existing.has(id)) this.#ended.delete(id);
  }
}

const reasonOf = ({ reason }: ContainerStatus) => reason.slice(0, MAX_CONDITION_REASON_LENGTH);

/** Returns the cached exited container, updated with an exit reason that was reported late. Statuses from before the exit are ignored. */
function readAgain(known: KnownEnd, status: ContainerStatus): RuntimeContainer {
  if (known.isSettled || status.state !== ContainerState.CONTAINER_EXITED) return known.container;
  const reason = reasonOf(status);
  if (reason !== known.container.reason) known.container = { ...known.container, reason };
  known.isSettled = !mayBeOutOfMemory(known.container) || performance.now() - known.sinceMs >= REASON_SETTLES_MS;
  return known.container;
}

/**
 * Whether the exit reason might still become OOMKilled: containerd receives the OOM event and the exit event separately and in either
 * order.
 */
function mayBeOutOfMemory({ exitCode, reason }: RuntimeContainer): boolean {
  return exitCode === EXIT_CODE_KILLED && reason === 'Error';
}

function listing(sandboxes: ListPodSandboxResponse, containers: ListContainersResponse): Listing {
  const pods = new Map<string, ListedPod>();
  const podOf = (labels: Record<string, string>) => {
    const pod = decodePodIdentity(labels);
    if (pod === undefined) return undefined;
    const listed = pods.get(pod.uid) ?? { pod, sandboxes: [], containers: [] };
    pods.set(pod.uid, listed);
    return listed;
  };
  for (const { id, state, createdAt, labels } of sandboxes.items) {
    const ready = state === PodSandboxState.SANDBOX_READY;
    podOf(labels)?.sandboxes.push({ id, state: ready ? 'ready' : 'notready', createdAtMs: toMs(createdAt) });
  }
  for (const { id, state, createdAt, labels, podSandboxId, metadata } of containers.containers) {
    podOf(labels)?.containers.push({
      id,
      name: metadata?.name ?? '',
      state: STATE_NAMES[state],
      sandboxId: podSandboxId,
      createdAtMs: toMs(createdAt),
    });
  }
  const idsOf = (all: { id: string }[]) => new Set(all.map(({ id }) => id));
  const ids = { sandboxIds: idsOf(sandboxes.items), containerIds: idsOf(containers.containers) };
  return { sandboxes, containers, pods, ...ids };
}

function readTerminationMessage(
  status: ContainerStatus,
  info: ContainerInfo,
  legacyLogs: LegacyLogs | undefined,
): Promise<string> {
  const path = absolutePath(info.terminationMessagePath);
  const mount = status.mounts.find(({ containerPath }) => containerPath === path);
  return terminationMessage({
    messagePath: mount?.hostPath ?? '',
    policy: info.terminationMessagePolicy,
    exitCode: status.exitCode,
    logPath: status.logPath,
    legacyLog: legacyLogs && { logs: legacyLogs, containerId: status.id },
  });
}

function limitsOf({ resources }: ContainerStatus): Pick<RuntimeContainer, 'limits'> {
  if (resources?.linux === undefined) return {};
  const { cpuShares, cpuQuota, cpuPeriod, memoryLimitInBytes } = resources.linux;
  return { limits: { cpuShares, cpuQuota, cpuPeriod, memoryLimitInBytes } };
}

/** Returns the container's user and stop signal as resolved by the container runtime. */
function startedAs({ user, stopSignal }: ContainerStatus): Pick<RuntimeContainer, 'user' | 'stopSignal'> {
  const { linux } = user ?? {};
  const ids = linux && {
    uid: Number(linux.uid),
    gid: Number(linux.gid),
    supplementalGroups: linux.supplementalGroups.map(Number),
  };
  const signal =
    stopSignal === Signal.RUNTIME_DEFAULT
      ? undefined
      : Signal[stopSignal]?.replace(
          /^(SIGRTM(?:IN|AX))(PLUS|MINUS)/,
          (_, name, sign) => name + (sign === 'PLUS' ? '+' : '-'),
        );
  return { ...(ids && { user: ids }), ...(signal && { stopSignal: signal }) };
}

type Dated = { createdAt: bigint; metadata?: { attempt: number } };

/** Sorts newest first. Compares attempts before creation times, because attempts increase even if the host's clock is set back. */
function newestFirst(a: Dated, b: Dated): number {
  const attempts = (b.metadata?.attempt ?? 0) - (a.metadata?.attempt ?? 0);
  if (attempts !== 0 || a.createdAt === b.createdAt) return attempts;
  return a.createdAt < b.createdAt ? 1 : -1;
}

function sandboxFacts(sandbox: PodSandbox | PodSandboxStatus) {
  return {
    id: sandbox.id,
    owner: decodeSandboxOwner(sandbox.labels, sandbox.annotations),
    ready: sandbox.state === PodSandboxState.SANDBOX_READY,
    attempt: sandbox.metadata?.attempt ?? 0,
    createdAtMs: toMs(sandbox.createdAt),
  };
}
