/** What the runtime says about pods, in the kubelet's types and without the CRI's messages. */
import type { ExistingPod, LifecycleHandler, Pod, ResourceRequirements } from '@podwright/kube-api';
import type { PodIdentity } from './pod-identity.ts';

export type RuntimeContainerState = 'created' | 'running' | 'exited' | 'unknown';

/** One container of the runtime, as it was last seen. Times are Unix milliseconds, 0 for "not yet". */
export type RuntimeContainer = {
  id: string;
  /** `<runtime>://<id>`, as statuses show it. */
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
  /** Whose processes the container's first one began as; absent if the runtime does not tell. */
  user?: { uid: number; gid: number; supplementalGroups: number[] };
  /** '' if the runtime does not tell. */
  stopSignal?: string;
  /** The hook as it was when the container was made. */
  preStop: LifecycleHandler | undefined;
  /** What it was made with, if that was noted. */
  resources?: GivenResources;
};

/** Requests and limits of a container, and those that its pod had as a whole at that time. */
export type GivenResources = ResourceRequirements & { pod?: ResourceRequirements };

export type RuntimeSandbox = {
  id: string;
  /** The pod that it was made for. Only that one may have it, whichever pod has its UID now. */
  owner: ExistingPod;
  ready: boolean;
  attempt: number;
  createdAtMs: number;
  hostNetwork: boolean;
  ips: string[];
};

/** Everything the runtime has of one pod; sandboxes and containers newest first. */
export type RuntimePodStatus = {
  pod: PodIdentity;
  sandboxes: RuntimeSandbox[];
  containers: RuntimeContainer[];
};

/** One sandbox of a pod with its containers, as they were seen together; without `sandbox` it is gone. */
export type SandboxSnapshot = { id: string; sandbox: RuntimeSandbox | undefined; containers: RuntimeContainer[] };

/**
 * The pod with this snapshot in the place of what was known of that sandbox. Pure. Newest first is by attempts: they count up, whatever
 * somebody does to the clock of the host between them.
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

/** The newest container of that name, of whatever sandbox. */
export function latestContainer(status: RuntimePodStatus, name: string): RuntimeContainer | undefined {
  return status.containers.find((container) => container.name === name);
}

/** The pod's addresses: those of its newest sandbox, if it is ready. */
export function podIps(status: RuntimePodStatus): string[] {
  const newest = status.sandboxes[0];
  return newest?.ready ? newest.ips : [];
}

/** The pod's addresses, primary first. */
export function podAddresses(node: { hostIps(): string[] }, pod: Pod, status: RuntimePodStatus): string[] {
  return pod.spec.hostNetwork ? node.hostIps() : podIps(status);
}

export function runningContainers(status: RuntimePodStatus): RuntimeContainer[] {
  return status.containers.filter(({ state }) => state === 'running' || state === 'unknown');
}

/** The pod of another name that something in the runtime with this pod's UID was made for. */
export function otherOwner({ sandboxes }: RuntimePodStatus, pod: PodIdentity): ExistingPod | undefined {
  return sandboxes.find(({ owner }) => owner.namespace !== pod.namespace || owner.name !== pod.name)?.owner;
}

/** True once nothing of the pod runs any more. */
export function isStopped(status: RuntimePodStatus): boolean {
  return runningContainers(status).length === 0;
}
