import { create } from '@bufbuild/protobuf';
import { Broadcast, PodwrightError } from '@podwright/base';
import {
  type Container,
  type ContainerConfig,
  type ContainerEventResponse,
  ContainerEventResponseSchema,
  type ContainerEventType,
  type ContainerFilter,
  ContainerSchema,
  ContainerState,
  type ContainerStatus,
  ContainerStatusSchema,
  type Image,
  type PodSandbox,
  type PodSandboxConfig,
  type PodSandboxFilter,
  PodSandboxSchema,
  PodSandboxState,
  type PodSandboxStatus,
  PodSandboxStatusSchema,
} from '../messages.ts';

export type FakeSandbox = {
  id: string;
  config: PodSandboxConfig;
  runtimeHandler: string;
  state: PodSandboxState;
  createdAt: bigint;
  ip: string;
};

/** A container in the fake container runtime. `exitCode` and `finishedAt` are valid once it has exited. */
export type FakeContainer = {
  id: string;
  sandboxId: string;
  config: ContainerConfig;
  imageId: string;
  state: ContainerState;
  createdAt: bigint;
  startedAt: bigint;
  finishedAt: bigint;
  exitCode: number;
  reason: string;
  message: string;
};

export class FakeStore {
  readonly sandboxes = new Map<string, FakeSandbox>();
  readonly containers = new Map<string, FakeContainer>();
  readonly images = new Map<string, Image>();
  readonly events = new Broadcast<ContainerEventResponse>();
  readonly #now: () => number;
  #lastId = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  newId(kind: 'sandbox' | 'container'): string {
    return `${kind}-${++this.#lastId}`;
  }

  nowNs(): bigint {
    return BigInt(this.#now()) * 1_000_000n;
  }

  sandbox(id: string): FakeSandbox {
    const sandbox = this.sandboxes.get(id);
    if (sandbox === undefined) throw new PodwrightError('not_found', `no pod sandbox ${id}`);
    return sandbox;
  }

  container(id: string): FakeContainer {
    const container = this.containers.get(id);
    if (container === undefined) throw new PodwrightError('not_found', `no container ${id}`);
    return container;
  }

  containersOf(sandboxId: string): FakeContainer[] {
    return [...this.containers.values()].filter((container) => container.sandboxId === sandboxId);
  }

  /** Makes a running container exit. Has no effect on a container in any other state. */
  exit(
    container: FakeContainer,
    how: { exitCode: number; reason?: string; message?: string },
    type: ContainerEventType,
  ): void {
    if (container.state !== ContainerState.CONTAINER_RUNNING) return;
    container.state = ContainerState.CONTAINER_EXITED;
    container.finishedAt = this.nowNs();
    container.exitCode = how.exitCode;
    container.reason = how.reason ?? (how.exitCode === 0 ? 'Completed' : 'Error');
    container.message = how.message ?? '';
    this.publish(container.id, container.sandboxId, type);
  }

  /** Publishes an event for a container, or for a sandbox if its own ID is passed as the container ID. */
  publish(containerId: string, sandboxId: string, containerEventType: ContainerEventType): void {
    const sandbox = this.sandboxes.get(sandboxId);
    this.events.publish(
      create(ContainerEventResponseSchema, {
        containerId,
        containerEventType,
        createdAt: this.nowNs(),
        podSandboxStatus: sandbox === undefined ? undefined : sandboxStatus(sandbox),
        containersStatuses: this.containersOf(sandboxId).map(containerStatus),
      }),
    );
  }

  listSandboxes(filter: PodSandboxFilter | undefined): PodSandbox[] {
    return [...this.sandboxes.values()]
      .filter(
        (sandbox) =>
          (!filter?.id || filter.id === sandbox.id) &&
          (filter?.state === undefined || filter.state.state === sandbox.state) &&
          hasLabels(sandbox.config.labels, filter?.labelSelector),
      )
      .map(({ id, config, state, createdAt, runtimeHandler }) => {
        const { metadata, labels, annotations } = config;
        return create(PodSandboxSchema, { id, metadata, state, createdAt, labels, annotations, runtimeHandler });
      });
  }

  listContainers(filter: ContainerFilter | undefined): Container[] {
    return [...this.containers.values()]
      .filter(
        (container) =>
          (!filter?.id || filter.id === container.id) &&
          (!filter?.podSandboxId || filter.podSandboxId === container.sandboxId) &&
          (filter?.state === undefined || filter.state.state === container.state) &&
          hasLabels(container.config.labels, filter?.labelSelector),
      )
      .map(({ id, sandboxId, config, imageId, state, createdAt }) => {
        const { metadata, image, labels, annotations } = config;
        const names = { id, podSandboxId: sandboxId, metadata, image, imageRef: imageId, imageId };
        return create(ContainerSchema, { ...names, state, createdAt, labels, annotations });
      });
  }
}

export function sandboxStatus(sandbox: FakeSandbox): PodSandboxStatus {
  const { id, config, state, createdAt, ip, runtimeHandler } = sandbox;
  const { metadata, labels, annotations, linux } = config;
  return create(PodSandboxStatusSchema, {
    ...{ id, metadata, state, createdAt, labels, annotations, runtimeHandler },
    network: state === PodSandboxState.SANDBOX_READY ? { ip } : undefined,
    linux: { namespaces: { options: linux?.securityContext?.namespaceOptions } },
  });
}

export function containerStatus(container: FakeContainer): ContainerStatus {
  const { config, imageId, sandboxId: _, ...own } = container;
  const { metadata, image, labels, annotations, mounts, logPath } = config;
  const resources = { linux: config.linux?.resources };
  const described = { metadata, image, labels, annotations, mounts, logPath, resources };
  return create(ContainerStatusSchema, { ...own, ...described, imageRef: imageId, imageId });
}

function hasLabels(labels: Record<string, string>, selector: Record<string, string> = {}): boolean {
  return Object.entries(selector).every(([name, value]) => labels[name] === value);
}
