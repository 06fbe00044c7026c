import { Checkpoint } from '@podwright/host';
import {
  allContainers,
  containerAmount,
  type EventRecorder,
  eventSubject,
  type Pod,
  type PodCondition,
  type PodSpec,
  podRequest,
  qosClass,
  type ResourceList,
  type ResourceRequirements,
  resourcesKey,
} from '@podwright/kube-api';
import { type GivenResources, latestContainer, type RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import type { WaitingReason } from '../kubecontainer/sync-result.ts';
import type { ActuatedResources } from '../kuberuntime/actuated-resources.ts';
import type { ContainerEnforcement } from '../kuberuntime/container-enforcement.ts';
import { decideResize } from '../kuberuntime/resize-actions.ts';
import type { AllocatedRecord } from '../kuberuntime/resource-records.ts';
import { resizesSwap } from '../kuberuntime/swap.ts';
import type { NodeResources } from '../node/node-resources.ts';

export type PodAllocationsOptions = {
  events: EventRecorder;
  actuated: ActuatedResources;
  /** The node's allocatable resources. */
  node: NodeResources;
  /** Resource policy and host properties that determine container limits. */
  enforcement: ContainerEnforcement;
  /** The admitted pods that currently hold node resources. */
  activePods: () => Pod[];
  /** Returns the pod's status as last read from the container runtime. */
  runtimeStatus?: (podUid: string) => RuntimePodStatus | undefined;
  /** Stores the allocations, so that they survive a kubelet restart. */
  checkpoint?: Checkpoint<AllocatedRecord>;
  /** Resources that a static CPU or memory manager assigns exclusively, so they cannot be resized in guaranteed pods. */
  fixed?: { resource: 'cpu' | 'memory'; manager: string }[];
};

type Allocation = {
  desired: Pod;
  resources: Allocated;
  pending?: Verdict;
  inProgress?: Verdict;
};
type Allocated = { pod: ResourceRequirements | undefined; containers: Map<string, ResourceRequirements> };
type Verdict = Pick<PodCondition, 'type' | 'status' | 'reason' | 'message'>;

/**
 * Tracks the resources allocated to each pod (pkg/kubelet/allocation). A pod whose resources are changed keeps its old allocation until the
 * new resources fit, and is then resized in place. After a kubelet restart, the allocation is restored from the checkpoint or, failing
 * that, from the actual resources of the pod's containers.
 */
export class PodAllocations {
  readonly #options: PodAllocationsOptions;
  readonly #checkpoint: Checkpoint<AllocatedRecord>;
  readonly #pods = new Map<string, Allocation>();

  constructor(options: PodAllocationsOptions) {
    this.#options = options;
    this.#checkpoint = options.checkpoint ?? new Checkpoint();
  }

  /** Allocates the desired resources if they fit. Returns the pod with its allocated resources. */
  allocate(desired: Pod, status: RuntimePodStatus): Pod {
    const { uid } = desired.metadata;
    const known = this.#pods.get(uid) ?? { desired, resources: this.#initial(desired, status) };
    const allocation: Allocation = { ...known, desired };
    this.#pods.set(uid, allocation);
    const allocated = this.#decide(allocation);
    this.#checkpoint.set(uid, recordOf(allocation.resources));
    return allocated;
  }

  /** Resolves once the allocations have been written to the checkpoint, or a write has failed; failed writes are retried. */
  saved(): Promise<void> {
    return this.#checkpoint.flush();
  }

  #decide(allocation: Allocation): Pod {
    const { desired } = allocation;
    if (!differs(desired, allocation.resources)) {
      allocation.pending = undefined;
      return desired;
    }
    const refusal = this.#refusal(desired, withResources(desired, allocation.resources));
    if (refusal === undefined) return this.#begin(allocation);
    const reason = refusal.reason === 'Infeasible' ? 'Infeasible' : 'Deferred';
    if (allocation.pending?.reason !== reason)
      this.#event(desired, `Resize${reason}`, `Pod resize ${refusal.reason}: ${summary(desired, refusal.message)}`);
    allocation.pending = { type: 'PodResizePending', status: 'True', reason, message: refusal.message };
    return withResources(desired, allocation.resources);
  }

  /** Returns the pod with the resources last allocated to it. */
  current(pod: Pod): Pod {
    const { uid } = pod.metadata;
    const status = this.#options.runtimeStatus?.(uid);
    const resources = this.#pods.get(uid)?.resources ?? (status && this.#initial(pod, status));
    return resources === undefined ? pod : withResources(pod, resources);
  }

  /** Returns the pod with the resources that its source requests. */
  desired(pod: Pod): Pod {
    const known = this.#pods.get(pod.metadata.uid);
    return known === undefined ? pod : { ...pod, spec: known.desired.spec };
  }

  /** Returns true while a resize is deferred because the node lacks resources. */
  isDeferred(podUid: string): boolean {
    return this.#pods.get(podUid)?.pending?.reason === 'Deferred';
  }

  /**
   * Updates the pod's resize condition. The resize is complete once the running containers have the allocated resources. `error`: why the
   * last attempt failed.
   */
  settle(pod: Pod, status: RuntimePodStatus, error?: string): void {
    const known = this.#pods.get(pod.metadata.uid);
    if (known === undefined) return;
    const resizing = this.#isResizing(pod, status);
    if (!resizing && known.inProgress !== undefined) {
      known.inProgress = undefined;
      this.#event(pod, 'ResizeCompleted', `Pod resize completed: ${summary(pod)}`);
    } else if (resizing && error !== undefined) {
      if (known.inProgress?.message !== error)
        this.#event(pod, 'ResizeError', `Pod resize error: ${summary(pod, error)}`);
      known.inProgress = { type: 'PodResizeInProgress', status: 'True', reason: 'Error', message: error };
    } else if (resizing) known.inProgress ??= { type: 'PodResizeInProgress', status: 'True' };
  }

  conditions(podUid: string): Verdict[] {
    const { pending, inProgress } = this.#pods.get(podUid) ?? {};
    return [pending, inProgress].filter((one) => one !== undefined);
  }

  forget(podUid: string): void {
    this.#pods.delete(podUid);
    this.#checkpoint.delete(podUid);
  }

  #begin(allocation: Allocation): Pod {
    const { desired } = allocation;
    allocation.resources = resourcesOf(desired);
    allocation.pending = undefined;
    allocation.inProgress = { type: 'PodResizeInProgress', status: 'True' };
    this.#event(desired, 'ResizeStarted', `Pod resize started: ${summary(desired)}`);
    return desired;
  }

  /**
   * Returns the allocation of a pod that this process has not synced yet. A pod that does not exist in the container runtime was admitted
   * with its desired resources.
   */
  #initial(desired: Pod, status: RuntimePodStatus): Allocated {
    const initial = resourcesOf(desired);
    if (status.sandboxes.length === 0 && status.containers.length === 0) return initial;
    const record = this.#checkpoint.get(desired.metadata.uid);
    if (record === undefined) this.#options.actuated.observe(status);
    for (const name of initial.containers.keys()) {
      const given = record === undefined ? this.#given(status, name) : record.ContainerResources[name];
      if (given === undefined) continue;
      const { pod, ...own }: GivenResources = given;
      initial.containers.set(name, own);
      initial.pod = pod;
    }
    if (record !== undefined) initial.pod = record.PodLevelResources;
    return initial;
  }

  #given(status: RuntimePodStatus, name: string): GivenResources | undefined {
    const current = latestContainer(status, name);
    if (current?.state !== 'running') return undefined;
    return this.#options.actuated.of(status.pod.uid, current);
  }

  #isResizing(pod: Pod, status: RuntimePodStatus): boolean {
    return containersOf(pod).some((container) => {
      const current = latestContainer(status, container.name);
      if (current?.state !== 'running') return false;
      const { id, name } = current;
      const given = this.#options.actuated.of(pod.metadata.uid, current);
      return decideResize(pod, container, { id, name, given }).kind !== 'none';
    });
  }

  /**
   * Returns why the desired resources cannot be allocated now. Unless a static manager or swap forbids the resize, a decrease is always
   * possible if the result does not exceed the node's capacity.
   */
  #refusal(desired: Pod, current: Pod): WaitingReason | undefined {
    const { node, enforcement, activePods, fixed = [] } = this.#options;
    if (resizesSwap(desired, current, enforcement))
      return { reason: 'Infeasible', message: 'In-place resize of containers with swap is not supported.' };
    for (const { resource, manager } of fixed) {
      const message = `Resize is infeasible for Guaranteed Pods alongside ${manager}`;
      if (resizesGuaranteed(desired, current, resource)) return { reason: 'Infeasible', message };
    }
    for (const name of ['memory', 'cpu'] as const) {
      const [wanted, capacity] = [podRequest(desired, name), node[name] ?? 0n];
      if (wanted <= capacity) continue;
      const amounts = `${name}, requested: ${wanted}, capacity: ${capacity}`;
      return { reason: 'Infeasible', message: `Node didn't have enough capacity: ${amounts}` };
    }
    const others = activePods().filter(({ metadata }) => metadata.uid !== desired.metadata.uid);
    for (const name of ['cpu', 'memory'] as const) {
      const wanted = podRequest(desired, name);
      const capacity = node[name] ?? 0n;
      if (wanted <= podRequest(current, name)) continue;
      const used = others.reduce((sum, pod) => sum + podRequest(this.current(pod), name), 0n);
      if (used + wanted <= capacity) continue;
      const amounts = `requested: ${wanted}, used: ${used}, capacity: ${capacity}`;
      return { reason: `OutOf${name}`, message: `Node didn't have enough resource: ${name}, ${amounts}` };
    }
    return undefined;
  }

  #event(pod: Pod, reason: string, message: string): void {
    const type = reason === 'ResizeStarted' || reason === 'ResizeCompleted' ? 'Normal' : 'Warning';
    this.#options.events.event(eventSubject(pod), type, reason, message);
  }
}

const containersOf = ({ spec }: Pod) => [...(spec.initContainers ?? []), ...spec.containers];

function resourcesOf(pod: Pod): Allocated {
  const containers = new Map(containersOf(pod).map(({ name, resources = {} }) => [name, resources]));
  return { pod: pod.spec.resources, containers };
}

function recordOf({ pod, containers }: Allocated): AllocatedRecord {
  return { ContainerResources: Object.fromEntries(containers), ...(pod !== undefined && { PodLevelResources: pod }) };
}

function differs(pod: Pod, allocated: Allocated): boolean {
  const shown = (one: Allocated) =>
    JSON.stringify([resourcesKey(one.pod), ...[...one.containers].map(([name, given]) => [name, resourcesKey(given)])]);
  return shown(resourcesOf(pod)) !== shown(resourcesOf(withResources(pod, allocated)));
}

function resizesGuaranteed(desired: Pod, current: Pod, resource: 'cpu' | 'memory'): boolean {
  const amounts = ({ spec }: Pod) =>
    allContainers(spec)
      .map((one) => containerAmount(one, 'requests', resource))
      .join();
  return qosClass(desired) === 'Guaranteed' && amounts(desired) !== amounts(current);
}

function withResources(pod: Pod, allocated: Allocated): Pod {
  const give = <T extends { name: string; resources?: ResourceRequirements }>(container: T): T => {
    const given = allocated.containers.get(container.name);
    return given === undefined ? container : { ...container, resources: given };
  };
  const { resources: _, initContainers, containers, ...rest } = pod.spec;
  const spec: PodSpec = { ...rest, containers: containers.map(give) };
  if (initContainers !== undefined) spec.initContainers = initContainers.map(give);
  if (allocated.pod !== undefined) spec.resources = allocated.pod;
  return { ...pod, spec };
}

/** Formats the pod's resources like upstream's resize events (pkg/kubelet/events/resize.go). */
function summary({ metadata, spec }: Pod, error?: string): string {
  const shown = (list: { name: string; resources?: ResourceRequirements }[] = []) =>
    list.map(({ name, resources = {} }) => ({ name, resources: sorted(resources) }));
  const { initContainers = [], containers } = spec;
  return JSON.stringify({
    ...(initContainers.length > 0 && { initContainers: shown(initContainers) }),
    containers: shown(containers),
    generation: metadata.generation ?? 0,
    ...(error !== undefined && { error }),
  });
}

/** Sorts the keys, because Go serializes maps that way. */
function sorted({ limits, requests }: ResourceRequirements): ResourceRequirements {
  const byName = (list: ResourceList) => Object.fromEntries(Object.entries(list).sort(([a], [b]) => (a < b ? -1 : 1)));
  return { ...(limits && { limits: byName(limits) }), ...(requests && { requests: byName(requests) }) };
}
