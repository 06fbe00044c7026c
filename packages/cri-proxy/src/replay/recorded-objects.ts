import {
  type Container,
  type ContainerConfig,
  type ContainerEventResponse,
  ContainerState,
  type ContainerStatus,
  type ContainerStatusResponse,
  type CreateContainerRequest,
  type CreateContainerResponse,
  type ListContainersResponse,
  type ListPodSandboxResponse,
  type PodSandbox,
  type PodSandboxConfig,
  PodSandboxState,
  type PodSandboxStatus,
  type PodSandboxStatusResponse,
  type RunPodSandboxRequest,
  type RunPodSandboxResponse,
  type StreamContainersResponse,
  type StreamPodSandboxesResponse,
} from '@podwright/cri';
import { KnownPods } from '../methods/known-pods.ts';
import { podText, type Subject } from '../methods/subject.ts';
import type { RecordedCall, Recording } from '../recording/read-recording.ts';

/** A recorded value for an object, and when it was recorded, in ms since the epoch. */
type Seen<T> = { atMs: number; value: T };

/** A sandbox or container in the recording. */
export type RecordedObject<Status, State, Config> = {
  id: string;
  pod: string;
  /** The recorded call that created the object; `undefined` if the object existed before the recording. */
  madeBy: RecordedCall | undefined;
  states: Seen<State>[];
  statuses: Seen<Status>[];
  /** The object's recorded configuration. During the replay, the configuration in the client's request replaces it. */
  config: Config | undefined;
};
export type RecordedSandbox = RecordedObject<PodSandboxStatus, PodSandboxState, PodSandboxConfig> & {
  runtimeHandler: string;
};
export type RecordedContainer = RecordedObject<ContainerStatus, ContainerState, ContainerConfig> & {
  sandboxId: string;
  /** The container's entries in recorded lists, which have image fields that statuses might lack. */
  entries: Seen<Container>[];
};

/** The sandboxes, containers and events of a recording. */
export class RecordedObjects {
  readonly sandboxes = new Map<string, RecordedSandbox>();
  readonly containers = new Map<string, RecordedContainer>();
  readonly subjects = new Map<RecordedCall, Subject>();
  readonly events: { atMs: number; pod: string; event: ContainerEventResponse }[] = [];

  constructor({ calls }: Recording) {
    const pods = new KnownPods();
    for (const call of calls.toSorted((a, b) => a.endMs - b.endMs)) {
      const { name } = call.method;
      const subject = pods.subjectOf(name, call.request);
      for (const { message } of call.answers) pods.learn(name, subject, message);
      if (subject !== undefined) this.subjects.set(call, subject);
      if (call.status === undefined || call.answers.length > 0) this.#add(call, subject);
    }
    for (const object of [...this.sandboxes.values(), ...this.containers.values()]) {
      object.states.sort((a, b) => a.atMs - b.atMs);
      object.statuses.sort((a, b) => a.atMs - b.atMs);
    }
    this.events.sort((a, b) => a.atMs - b.atMs);
  }

  #add(call: RecordedCall, subject: Subject | undefined): void {
    for (const { atMs, message } of call.answers) this.#addAnswer(call, { atMs, message, subject });
    const { podSandboxId = '', containerId = '' } = call.request as { podSandboxId?: string; containerId?: string };
    const { endMs } = call;
    const { StopPodSandbox, StartContainer, StopContainer } = DONE;
    if (call.method.name === 'StopPodSandbox') this.#state(this.sandboxes.get(podSandboxId), endMs, StopPodSandbox);
    if (call.method.name === 'StartContainer') this.#state(this.containers.get(containerId), endMs, StartContainer);
    if (call.method.name === 'StopContainer') this.#state(this.containers.get(containerId), endMs, StopContainer);
  }

  #addAnswer(
    call: RecordedCall,
    { atMs, message, subject }: { atMs: number; message: object; subject: Subject | undefined },
  ): void {
    switch (call.method.name) {
      case 'RunPodSandbox': {
        const { config, runtimeHandler } = call.request as RunPodSandboxRequest;
        const { podSandboxId: id } = message as RunPodSandboxResponse;
        const states = [{ atMs, value: PodSandboxState.SANDBOX_READY }];
        const pod = podText(subject);
        this.sandboxes.set(id, { id, pod, madeBy: call, states, statuses: [], config, runtimeHandler });
        return;
      }
      case 'CreateContainer': {
        const { config, podSandboxId: sandboxId } = call.request as CreateContainerRequest;
        const { containerId: id } = message as CreateContainerResponse;
        const states = [{ atMs, value: ContainerState.CONTAINER_CREATED }];
        const pod = this.sandboxes.get(sandboxId)?.pod ?? podText(subject);
        this.containers.set(id, { id, pod, sandboxId, madeBy: call, states, statuses: [], entries: [], config });
        return;
      }
      case 'ListPodSandbox':
        for (const item of (message as ListPodSandboxResponse).items) this.#seeSandbox(item, atMs);
        return;
      case 'StreamPodSandboxes':
        for (const item of (message as StreamPodSandboxesResponse).podSandboxes) this.#seeSandbox(item, atMs);
        return;
      case 'ListContainers':
      case 'StreamContainers':
        for (const item of (message as ListContainersResponse | StreamContainersResponse).containers)
          this.#seeContainer(item, atMs);
        return;
      case 'PodSandboxStatus': {
        const { status, containersStatuses } = message as PodSandboxStatusResponse;
        this.#seeStatuses(status, containersStatuses, atMs);
        return;
      }
      case 'ContainerStatus':
        this.#seeStatuses(
          undefined,
          [(message as ContainerStatusResponse).status].filter((one) => one !== undefined),
          atMs,
        );
        return;
      case 'GetContainerEvents': {
        const event = message as ContainerEventResponse;
        this.#seeStatuses(event.podSandboxStatus, event.containersStatuses, atMs);
        const metadata = event.podSandboxStatus?.metadata;
        const pod = this.containers.get(event.containerId)?.pod ?? this.sandboxes.get(event.containerId)?.pod;
        const named = metadata && podText({ namespace: metadata.namespace, pod: metadata.name });
        if ((pod ?? named) !== undefined) this.events.push({ atMs, pod: (pod ?? named)!, event });
      }
    }
  }

  #seeSandbox(seen: PodSandbox | PodSandboxStatus, atMs: number): RecordedSandbox {
    const { id, metadata, state, labels, annotations, runtimeHandler } = seen;
    const pod = metadata === undefined ? '-' : podText({ namespace: metadata.namespace, pod: metadata.name });
    const config = { metadata, labels, annotations } as PodSandboxConfig;
    const known = this.sandboxes.get(id);
    const sandbox = known ?? { id, pod, madeBy: undefined, states: [], statuses: [], config, runtimeHandler };
    this.sandboxes.set(id, sandbox);
    this.#state(sandbox, atMs, state);
    return sandbox;
  }

  #seeContainer(entry: Container, atMs: number): void {
    const { id, podSandboxId: sandboxId, metadata, labels, annotations, state } = entry;
    const pod = this.sandboxes.get(sandboxId)?.pod ?? '-';
    const config = { metadata, labels, annotations } as ContainerConfig;
    const known = this.containers.get(id);
    const made = { id, pod, sandboxId, madeBy: undefined, states: [], statuses: [], entries: [], config };
    const container: RecordedContainer = known ?? made;
    this.containers.set(id, container);
    container.entries.push({ atMs, value: entry });
    this.#state(container, atMs, state);
  }

  #seeStatuses(sandbox: PodSandboxStatus | undefined, containers: ContainerStatus[], atMs: number): void {
    if (sandbox !== undefined) this.#seeSandbox(sandbox, atMs).statuses.push({ atMs, value: sandbox });
    for (const status of containers) {
      const container = this.containers.get(status.id);
      if (container === undefined) continue;
      container.statuses.push({ atMs, value: status });
      const isExited = status.state === ContainerState.CONTAINER_EXITED && status.finishedAt > 0n;
      this.#state(container, isExited ? Math.min(atMs, Number(status.finishedAt / 1_000_000n)) : atMs, status.state);
    }
  }

  #state<State>(object: { states: Seen<State>[] } | undefined, atMs: number, value: State): void {
    object?.states.push({ atMs, value });
  }
}

/** The state that each method leaves its sandbox or container in when it succeeds. */
const DONE = {
  StopPodSandbox: PodSandboxState.SANDBOX_NOTREADY,
  StartContainer: ContainerState.CONTAINER_RUNNING,
  StopContainer: ContainerState.CONTAINER_EXITED,
};
