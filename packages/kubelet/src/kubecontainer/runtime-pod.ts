/** The kubelet's own types for pods in the container runtime, independent of CRI messages. */
import type { Container, ExistingPod, LifecycleHandler, Pod, ResourceRequirements } from '@podwright/kube-api';
import type { PodIdentity } from './pod-identity.ts';

export type RuntimeContainerState = 'created' | 'running' | 'exited' | 'unknown';

/** A container in the container runtime, as last read. Times are Unix milliseconds; 0 means "not yet". */
export type RuntimeContainer = {
  id: string;
  /** `<runtime>://<id>`, the format used in pod statuses. */
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
  /** User and groups of the container's first process; absent if not reported by the container runtime. */
  user?: { uid: number; gid: number; supplementalGroups: number[] };
  /** Signal that stops the container; absent if not reported by the container runtime. */
  stopSignal?: string;
  /** The container's preStop hook at the time of its creation. */
  preStop: LifecycleHandler | undefined;
  /** The container's position among the pod's init or ephemeral containers; absent for ordinary containers. */
  listed?: ListedContainer;
  /** The resources that the container was created with, read from its annotation. */
  resources?: GivenResources;
  /** The container's current CPU and memory limits, if reported by the container runtime. */
  limits?: ContainerLimits;
};

/** The position of an init or ephemeral container in the pod's spec. An init container with restart policy `Always` is a sidecar. */
export type ListedContainer = {
  list: 'initContainers' | 'ephemeralContainers';
  position: number;
  restartPolicy?: Container['restartPolicy'];
};

/** CPU and memory limits of a container in CRI units; 0 or -1 means no limit. */
export type ContainerLimits = {
  cpuShares: bigint;
  cpuQuota: bigint;
  cpuPeriod: bigint;
  memoryLimitInBytes: bigint;
};

/** Requests and limits of a container, and the pod-level ones in effect at the same time. */
export type GivenResources = ResourceRequirements & { pod?: ResourceRequirements };

export type RuntimeSandbox = {
  id: string;
  /** The pod that the sandbox was created for. A different pod with the same UID must not use the sandbox. */
  owner: ExistingPod;
  ready: boolean;
  attempt: number;
  createdAtMs: number;
  hostNetwork: boolean;
  ips: string[];
};

/** All of a pod's sandboxes and containers, newest first. */
export type RuntimePodStatus = {
  pod: PodIdentity;
  sandboxes: RuntimeSandbox[];
  containers: RuntimeContainer[];
};

/** A consistent snapshot of one sandbox and its containers; `sandbox` is absent if the sandbox has been removed. */
export type SandboxSnapshot = { id: string; sandbox: RuntimeSandbox | undefined; containers: RuntimeContainer[] };

/**
 * Returns a pod's status with one sandbox and its containers replaced by those in the snapshot. Sorts by attempt rather than creation time,
 * because attempts increase even if the host's clock is set back. Pure.
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

/** Returns the newest container with this name in any of the pod's sandboxes. */
export function latestContainer(status: RuntimePodStatus, name: string): RuntimeContainer | undefined {
  return status.containers.find((container) => container.name === name);
}

/** Returns the addresses of the pod's newest sandbox; none if the sandbox is not ready. */
export function podIps(status: RuntimePodStatus): string[] {
  const newest = status.sandboxes[0];
  return newest?.ready ? newest.ips : [];
}

/** Returns the pod's addresses, primary first. Pods on the host network have the node's addresses. */
export function podAddresses(node: { hostIps(): string[] }, pod: Pod, status: RuntimePodStatus): string[] {
  return pod.spec.hostNetwork ? node.hostIps() : podIps(status);
}

export function runningContainers(status: RuntimePodStatus): RuntimeContainer[] {
  return status.containers.filter(({ state }) => state === 'running' || state === 'unknown');
}

/** Returns the pod that owns one of the sandboxes if it has this pod's UID but another name or namespace. */
export function otherOwner({ sandboxes }: RuntimePodStatus, pod: PodIdentity): ExistingPod | undefined {
  return sandboxes.find(({ owner }) => owner.namespace !== pod.namespace || owner.name !== pod.name)?.owner;
}

/** Returns true if none of the pod's containers are running. The pod's sandbox may still be ready. */
export function isStopped(status: RuntimePodStatus): boolean {
  return runningContainers(status).length === 0;
}
