import { join } from 'node:path';
import { type Failpoint, noFailpoint, silentLogger } from '@podwright/base';
import {
  type ContainerConfigSchema,
  type ContainerFilterSchema,
  ContainerStatusRequestSchema,
  CreateContainerRequestSchema,
  create,
  ListContainersRequestSchema,
  type MessageInitShape,
  PodSandboxConfigSchema,
  RemoveContainerRequestSchema,
  ReopenContainerLogRequestSchema,
  StartContainerRequestSchema,
  StopContainerRequestSchema,
  UpdateContainerResourcesRequestSchema,
} from '@podwright/cri';
import type { CallContext } from '@podwright/grpc';
import { containerHandlers } from '../../packages/dockershim/src/containers/container-handlers.ts';
import type { EngineFactsSource } from '../../packages/dockershim/src/containers/container-services.ts';
import { connectEngine, type Engine } from '../../packages/dockershim/src/engine/engine.ts';
import type { ContainerSpec } from '../../packages/dockershim/src/engine/engine-types.ts';
import { CONTAINER_NAME_LABEL, SANDBOX_TYPE, TYPE_LABEL } from '../../packages/dockershim/src/labels/labels.ts';
import { formatName, SANDBOX_CONTAINER_NAME } from '../../packages/dockershim/src/labels/names.ts';
import { busyboxImage, type DockerEngine, startDockerEngine } from './docker-engine.fixture.ts';

/** A pod on its own Docker Engine: a manually created sandbox, and CRI calls for the containers in it. */
export type EnginePod = AsyncDisposable & {
  docker: DockerEngine;
  engine: Engine;
  sandboxId: string;
  logDirectory: string;
  verbs: Verbs;
};

export type Verbs = ReturnType<typeof verbsOf>;

type Config = MessageInitShape<typeof ContainerConfigSchema>;

export const anyCall = (signal = AbortSignal.timeout(60_000)): CallContext => ({ signal, service: '', method: '' });

export async function startEnginePod(): Promise<EnginePod> {
  const docker = await startDockerEngine();
  const engine = await connectEngine(docker.socket);
  const sandboxId = await startSandbox(engine, 'pod');
  const logDirectory = join(docker.scratch, 'logs', 'pod');
  const dispose = async () => {
    engine.close();
    await docker.stop();
  };
  const verbs = verbsOf(engine, { sandboxId, logDirectory });
  return { docker, engine, sandboxId, logDirectory, verbs, [Symbol.asyncDispose]: dispose };
}

/** Starts a sandbox container like those created by a dockershim. */
export async function startSandbox(
  engine: Engine,
  podName: string,
  more: Pick<ContainerSpec, 'NetworkDisabled'> = {},
): Promise<string> {
  const identity = { podName, namespace: 'default', uid: `uid-${podName}`, attempt: 0 };
  const id = await engine.containers.create(formatName({ ...identity, name: SANDBOX_CONTAINER_NAME }), {
    Image: busyboxImage,
    ...more,
    Entrypoint: ['sleep', '100000'],
    Labels: { [TYPE_LABEL]: SANDBOX_TYPE, [CONTAINER_NAME_LABEL]: SANDBOX_CONTAINER_NAME },
    HostConfig: { NetworkMode: 'none', IpcMode: 'shareable' },
  });
  await engine.containers.start(id);
  return id;
}

/** Returns functions that make the CRI calls for containers, with default values for most request fields. */
export function verbsOf(
  engine: Engine,
  { sandboxId, logDirectory }: { sandboxId: string; logDirectory: string },
  { failpoint = noFailpoint, facts = engine }: { failpoint?: Failpoint; facts?: EngineFactsSource } = {},
) {
  const filesOf = (id: string) => join(logDirectory, '../files', id);
  const handlers = containerHandlers({ engine, logger: silentLogger, failpoint }, { facts, filesOf });
  const defaults = { image: { image: busyboxImage }, command: ['sleep', '100000'], metadata: { name: 'c' } };
  const requestOf = (config: Config) =>
    create(CreateContainerRequestSchema, {
      podSandboxId: sandboxId,
      config: { ...defaults, ...config } as Config,
      sandboxConfig: create(PodSandboxConfigSchema, {
        logDirectory,
        linux: { securityContext: { privileged: true } },
      }),
    });
  const ask = { containerId: '' };
  const about = (containerId: string) => ({ ...ask, containerId });
  const status = async (id: string, verbose = false) =>
    await handlers.containerStatus(create(ContainerStatusRequestSchema, { ...about(id), verbose }), anyCall());
  return {
    handlers,
    create: async (config: Config, signal?: AbortSignal) =>
      (await handlers.createContainer(requestOf(config), anyCall(signal))).containerId!,
    start: (id: string) => handlers.startContainer(create(StartContainerRequestSchema, about(id)), anyCall()),
    stop: (id: string, seconds = 0) =>
      handlers.stopContainer(create(StopContainerRequestSchema, { ...about(id), timeout: BigInt(seconds) }), anyCall()),
    remove: (id: string) => handlers.removeContainer(create(RemoveContainerRequestSchema, about(id)), anyCall()),
    status: async (id: string) => (await status(id)).status!,
    info: async (id: string) => JSON.parse((await status(id, true)).info!.info!) as Record<string, unknown>,
    list: async (filter?: MessageInitShape<typeof ContainerFilterSchema>) =>
      (await handlers.listContainers(create(ListContainersRequestSchema, { filter }), anyCall())).containers!,
    update: (id: string, linux: NonNullable<MessageInitShape<typeof UpdateContainerResourcesRequestSchema>['linux']>) =>
      handlers.updateContainerResources(
        create(UpdateContainerResourcesRequestSchema, { ...about(id), linux }),
        anyCall(),
      ),
    reopenLog: (id: string) =>
      handlers.reopenContainerLog(create(ReopenContainerLogRequestSchema, about(id)), anyCall()),
  };
}
