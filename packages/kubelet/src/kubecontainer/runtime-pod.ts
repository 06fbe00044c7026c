/** The runtime's pods in the kubelet's own types, which are independent of CRI messages. */
import type { Container, ExistingPod, LifecycleHandler, Pod, ResourceRequirements } from '@podwright/kube-api';
import type { PodIdentity } from './pod-identity.ts';

export type RuntimeContainerState = 'created' | 'running' | 'exited' | 'unknown';

/** A container in the runtime, as last read. Times are Unix milliseconds; 0 means "not yet". */
export type RuntimeContainer = {
  id: string;
  /** `<runtime>://<id>`, as in pod statuses. */
  containerId: string;
  sandboxId: string;
  name: string;
  state: RuntimeContainerState;
  createdAtMs: number;
  startedAtMs: number;
  finishedAtMs: number;
  exitCode: number;
  reason: string;
  message: string;
  image: string;
  imageId: string;
  hash: string;
  restartCount: number;
  terminationGracePeriodSeconds: number | undefined;
  logPath: string;
  /** User and groups of the container's first process; absent if the runtime does not report them. */
  user?: { uid: number; gid: number; supplementalGroups: number[] };
  /** Absent if the runtime does not report it. */
  stopSignal?: string;
  /** The container's preStop hook at the time of its creation. */
  preStop: LifecycleHandler | undefined;
  /** Absent for a container from `containers` in the spec. */
  listed?: ListedContainer;
  /** The resources with which the container was created, from its annotation. */
  resources?: GivenResources;
  /** The container's current limits, if the runtime reports them. */
  limits?: ContainerLimits;
};

/** The position of an init or ephemeral container in the pod's spec. An init container with restart policy `Always` is a sidecar. */
export type ListedContainer = {
  list: 'initContainers' | 'ephemeralContainers';
  position: number;
  restartPolicy?: Container['restartPolicy'];
};

/** CPU and memory limits of a container in the units of the CRI; 0 or -1 means no limit. */
export type ContainerLimits = {
  cpuShares: bigint;
  cpuQuota: bigint;
  cpuPeriod: bigint;
  memoryLimitInBytes: bigint;
};

/** Requests and limits of a container, and the pod-level ones at the same time. */
export type GivenResources = ResourceRequirements & { pod?: ResourceRequirements };

export type RuntimeSandbox = {
  id: string;
  /** The pod for which the sandbox was created. Another pod with the same UID must not use the sandbox. */
  owner: ExistingPod;
  ready: boolean;
  attempt: number;
  createdAtMs: number;
  hostNetwork: boolean;
  ips: string[];
};

/** All sandboxes and containers of one pod, newest first. */
export type RuntimePodStatus = {
  pod: PodIdentity;
  sandboxes: RuntimeSandbox[];
  containers: RuntimeContainer[];
};

/** A consistent snapshot of one sandbox and its containers; `sandbox` is absent if the sandbox has been removed. */
export type SandboxSnapshot = { id: string; sandbox: RuntimeSandbox | undefined; containers: RuntimeContainer[] };

/**
 * Replaces a sandbox and its containers with the snapshot. Pure. "Newest first" is by attempt: unlike creation times, attempts always
 * increase, even if the host's clock is set back.
 */
export function withSandbox(status: RuntimePodStatus, { id, sandbox, containers }: SandboxSnapshot): RuntimePodStatus {
  const sandboxes = status.sandboxes.filter((other) => other.id !== id);
  if (sandbox !== undefined) sandboxes.push(sandbox);
  const others = status.containers.filter(({ sandboxId }) => sandboxId !== id);
  return {
    pod: status.pod,
    sandboxes: sandboxes.sort((a, b) => b.attempt - a.attempt || b.createdAtMs - a.createdAtMs),
    containers: [...others, ...containers].sort(
      (a, b) => b.restartCount - a.restartCount || b.createdAtMs - a.createdAtMs,
    ),
  };
}

export function emptyRuntimePod(pod: PodIdentity): RuntimePodStatus {
  return { pod, sandboxes: [], containers: [] };
}

/** The newest container with this name in any sandbox. */
export function latestContainer(status: RuntimePodStatus, name: string): RuntimeContainer | undefined {
  return status.containers.find((container) => container.name === name);
}

/** The addresses of the pod's newest sandbox; none unless the sandbox is ready. */
export function podIps(status: RuntimePodStatus): string[] {
  const newest = status.sandboxes[0];
  return newest?.ready ? newest.ips : [];
}

/** The pod's addresses, primary first; the node's for a pod on the host network. */
export function podAddresses(node: { hostIps(): string[] }, pod: Pod, status: RuntimePodStatus): string[] {
  return pod.spec.hostNetwork ? node.hostIps() : podIps(status);
}

export function runningContainers(status: RuntimePodStatus): RuntimeContainer[] {
  return status.containers.filter(({ state }) => state === 'running' || state === 'unknown');
}

/** Another pod with this pod's UID for which one of the sandboxes was created. */
export function otherOwner({ sandboxes }: RuntimePodStatus, pod: PodIdentity): ExistingPod | undefined {
  return sandboxes.find(({ owner }) => owner.namespace !== pod.namespace || owner.name !== pod.name)?.owner;
}

/** True if no container of the pod runs. Its sandbox may still be ready. */
export function isStopped(status: RuntimePodStatus): boolean {
  return runningContainers(status).length === 0;
}
