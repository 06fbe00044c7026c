import { PodwrightError } from '@podwright/base';
import {
  CgroupDriver,
  ContainerEventType,
  ContainerState,
  type ExecSyncRequest,
  PodSandboxState,
} from '../messages.ts';
import type { RuntimeHandlers } from '../server/handlers.ts';
import { containerStatus, type FakeStore, sandboxStatus } from './fake-store.ts';

export type FakeExec = (request: ExecSyncRequest) => { exitCode: number; stdout?: string; stderr?: string };

const { CONTAINER_CREATED_EVENT, CONTAINER_STARTED_EVENT, CONTAINER_STOPPED_EVENT, CONTAINER_DELETED_EVENT } =
  ContainerEventType;

/** Exit code of a terminated process as shells report it: 128 + SIGTERM. For a killed process, it is 128 + SIGKILL. */
const TERMINATED = { exitCode: 143 };
const KILLED = { exitCode: 137 };

/** The RuntimeService of a fake container runtime. Stopping or removing a nonexistent object succeeds, as the CRI requires. */
export function fakeRuntimeService(store: FakeStore, exec: FakeExec): Partial<RuntimeHandlers> {
  return { ...nodeHandlers(), ...sandboxHandlers(store), ...containerHandlers(store, exec), ...eventHandlers(store) };
}

function nodeHandlers(): Partial<RuntimeHandlers> {
  return {
    version: async () => ({
      version: '0.1.0',
      runtimeName: 'fake',
      runtimeVersion: '1.0.0',
      runtimeApiVersion: 'v1',
    }),
    status: async () => ({
      status: {
        conditions: ['RuntimeReady', 'NetworkReady'].map((type) => ({ type, status: true })),
      },
    }),
    runtimeConfig: async () => ({ linux: { cgroupDriver: CgroupDriver.CGROUPFS } }),
    updateRuntimeConfig: async () => ({}),
  };
}

function sandboxHandlers(store: FakeStore): Partial<RuntimeHandlers> {
  const stop = (id: string) => {
    for (const container of store.containersOf(id)) store.exit(container, KILLED, CONTAINER_STOPPED_EVENT);
    const sandbox = store.sandboxes.get(id);
    if (sandbox === undefined || sandbox.state === PodSandboxState.SANDBOX_NOTREADY) return;
    sandbox.state = PodSandboxState.SANDBOX_NOTREADY;
    store.publish(id, id, CONTAINER_STOPPED_EVENT);
  };
  return {
    async runPodSandbox({ config, runtimeHandler }) {
      if (config?.metadata === undefined)
        throw new PodwrightError('invalid_argument', 'sandbox config without metadata');
      const id = store.newId('sandbox');
      const ip = `10.88.0.${(store.sandboxes.size % 250) + 2}`;
      const state = PodSandboxState.SANDBOX_READY;
      store.sandboxes.set(id, { id, config, runtimeHandler, state, createdAt: store.nowNs(), ip });
      store.publish(id, id, CONTAINER_CREATED_EVENT);
      store.publish(id, id, CONTAINER_STARTED_EVENT);
      return { podSandboxId: id };
    },
    async stopPodSandbox({ podSandboxId }) {
      stop(podSandboxId);
      return {};
    },
    async removePodSandbox({ podSandboxId }) {
      stop(podSandboxId);
      for (const { id } of store.containersOf(podSandboxId)) {
        store.containers.delete(id);
        store.publish(id, podSandboxId, CONTAINER_DELETED_EVENT);
      }
      if (store.sandboxes.delete(podSandboxId)) store.publish(podSandboxId, podSandboxId, CONTAINER_DELETED_EVENT);
      return {};
    },
    podSandboxStatus: async ({ podSandboxId }) => ({
      status: sandboxStatus(store.sandbox(podSandboxId)),
      containersStatuses: store.containersOf(podSandboxId).map(containerStatus),
      timestamp: store.nowNs(),
    }),
    listPodSandbox: async ({ filter }) => ({ items: store.listSandboxes(filter) }),
  };
}

function containerHandlers(store: FakeStore, exec: FakeExec): Partial<RuntimeHandlers> {
  return {
    createContainer: async (request) => ({ containerId: createContainer(store, request) }),
    async startContainer({ containerId }) {
      const container = store.container(containerId);
      if (container.state !== ContainerState.CONTAINER_CREATED) {
        throw new PodwrightError('failed_precondition', `start container ${containerId}: it has already been started`);
      }
      container.state = ContainerState.CONTAINER_RUNNING;
      container.startedAt = store.nowNs();
      store.publish(containerId, container.sandboxId, CONTAINER_STARTED_EVENT);
      return {};
    },
    async stopContainer({ containerId, timeout }) {
      const container = store.containers.get(containerId);
      if (container !== undefined) store.exit(container, timeout > 0n ? TERMINATED : KILLED, CONTAINER_STOPPED_EVENT);
      return {};
    },
    async removeContainer({ containerId }) {
      const container = store.containers.get(containerId);
      if (container === undefined) return {};
      store.exit(container, KILLED, CONTAINER_STOPPED_EVENT);
      store.containers.delete(containerId);
      store.publish(containerId, container.sandboxId, CONTAINER_DELETED_EVENT);
      return {};
    },
    listContainers: async ({ filter }) => ({ containers: store.listContainers(filter) }),
    containerStatus: async ({ containerId }) => ({ status: containerStatus(store.container(containerId)) }),
    async updateContainerResources({ containerId, linux }) {
      const { config } = store.container(containerId);
      if (config.linux !== undefined) config.linux.resources = linux;
      return {};
    },
    updatePodSandboxResources: async () => ({}),
    async reopenContainerLog({ containerId }) {
      requireRunning(store, containerId);
      return {};
    },
    async execSync(request) {
      requireRunning(store, request.containerId);
      const { exitCode, stdout = '', stderr = '' } = exec(request);
      return { exitCode, stdout: Buffer.from(stdout), stderr: Buffer.from(stderr) };
    },
  };
}

function createContainer(
  store: FakeStore,
  { podSandboxId, config }: Parameters<RuntimeHandlers['createContainer']>[0],
): string {
  const sandbox = store.sandbox(podSandboxId);
  if (sandbox.state !== PodSandboxState.SANDBOX_READY) {
    throw new PodwrightError('failed_precondition', `create container in sandbox ${podSandboxId}: it is not ready`);
  }
  if (config?.metadata === undefined) throw new PodwrightError('invalid_argument', 'container config without metadata');
  const imageId = findImageId(store, config.image?.image ?? '');
  const id = store.newId('container');
  store.containers.set(id, {
    ...{ id, sandboxId: podSandboxId, config, imageId },
    state: ContainerState.CONTAINER_CREATED,
    ...{ createdAt: store.nowNs(), startedAt: 0n, finishedAt: 0n, exitCode: 0, reason: '', message: '' },
  });
  store.publish(id, podSandboxId, CONTAINER_CREATED_EVENT);
  return id;
}

function findImageId(store: FakeStore, reference: string): string {
  const image = store.images.get(reference) ?? [...store.images.values()].find(({ id }) => id === reference);
  if (image === undefined) throw new PodwrightError('not_found', `no image ${reference}`);
  return image.id;
}

function requireRunning(store: FakeStore, id: string): void {
  if (store.container(id).state === ContainerState.CONTAINER_RUNNING) return;
  throw new PodwrightError('failed_precondition', `container ${id} is not running`);
}

function eventHandlers(store: FakeStore): Partial<RuntimeHandlers> {
  return { getContainerEvents: (_request, { signal }) => store.events.subscribe(signal) };
}
