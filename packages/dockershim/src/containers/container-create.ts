import { mkdir } from 'node:fs/promises';
import { HOST_PATH_DIRECTORY, KeyedLock, wrapError } from '@podwright/base';
import {
  type ContainerConfig,
  type CreateContainerRequest,
  invalid,
  NamespaceMode,
  type PodSandboxConfig,
  type RuntimeHandlers,
} from '@podwright/cri';
import type { ContainerInspection, EngineVersion } from '../engine/engine-types.ts';
import { CONTAINER_TYPE, SANDBOX_ID_LABEL, SANDBOX_TYPE } from '../labels/labels.ts';
import { formatName, parseName } from '../labels/names.ts';
import { inspectOwn, requireRunning } from '../labels/own-container.ts';
import { networkNames, writeNetworkFiles } from '../sandbox/network-files.ts';
import { allowedOomScoreAdj } from '../sandbox/oom-score.ts';
import { readSeccompProfile } from '../sandbox/seccomp-profile.ts';
import type { ContainerServices } from './container-services.ts';
import { containerSpec, type SpecSources } from './container-spec.ts';
import { createRecovered } from './create-recovered.ts';
import { oomScoreOf } from './resources.ts';
import { seccompProfilePath } from './security.ts';

/** Minor version of the Engine API required for CDI devices: 1.44 (Docker Engine 25). */
const CDI_API_MINOR = 44;

/**
 * CreateContainer: creates a container without starting it. Calls with the same name are serialized, so that a retry finds the container
 * created by the earlier call.
 */
export function containerCreate(services: ContainerServices): RuntimeHandlers['createContainer'] {
  const { engine, logger, failpoint } = services;
  const names = new KeyedLock();
  return async (request, { signal }) => {
    const { config, sandboxConfig } = checked(request);
    const attempted = `create container ${config.metadata?.name}`;
    const sandbox = await requireRunning(
      engine,
      { type: SANDBOX_TYPE, id: request.podSandboxId },
      { attempted, signal },
    );
    const name = nameOf(config, sandbox);
    await checkTarget(services, config, { sandbox, attempted, signal });
    const sources = await specSources(services, config, { sandbox, sandboxConfig, signal });
    const spec = within(attempted, () => containerSpec(config, sources));
    await makeHostPaths(config);
    const create = () => createRecovered(name, spec, { engine, logger, signal });
    const containerId = await names.run(name, create, signal);
    await failpoint('container-create/created');
    return { containerId };
  };
}

function checked({ config, sandboxConfig }: CreateContainerRequest): {
  config: ContainerConfig;
  sandboxConfig: PodSandboxConfig;
} {
  if (config?.metadata === undefined) throw invalid('the container configuration has no metadata');
  if (config.metadata.name === '') throw invalid('the container has no name');
  if (sandboxConfig === undefined)
    throw invalid(`create container ${config.metadata.name}: the request has no sandbox configuration`);
  return { config, sandboxConfig };
}

/** Returns the container's name in the Engine. The pod part comes from the sandbox's name, not from the request. */
function nameOf({ metadata }: ContainerConfig, sandbox: ContainerInspection): string {
  const { podName, namespace, uid } = parseName(sandbox.Name)!;
  const { name, attempt } = metadata!;
  return formatName({ name, attempt, podName, namespace, uid });
}

/**
 * Rejects a target container (PID mode TARGET) that belongs to another pod: this pod would see that container's processes and their
 * secrets.
 */
async function checkTarget(
  { engine }: ContainerServices,
  { linux }: ContainerConfig,
  { sandbox, ...call }: { sandbox: ContainerInspection; attempted: string; signal: AbortSignal },
): Promise<void> {
  const options = linux?.securityContext?.namespaceOptions;
  if (options?.pid !== NamespaceMode.TARGET || options.targetId === '') return;
  const target = await inspectOwn(engine, { type: CONTAINER_TYPE, id: options.targetId }, call);
  if (target.Config.Labels[SANDBOX_ID_LABEL] === sandbox.Id) return;
  throw invalid(`${call.attempted}: the container ${target.Id} of namespaceOptions.targetId is of another pod`);
}

/** Gathers the inputs for the container's spec. Requests the Engine's version and info only if the spec depends on them. */
async function specSources(
  { facts, filesOf }: ContainerServices,
  { linux, CDIDevices }: ContainerConfig,
  {
    sandbox,
    sandboxConfig,
    signal,
  }: Pick<SpecSources, 'sandboxConfig'> & {
    sandbox: ContainerInspection;
    signal: AbortSignal;
  },
): Promise<SpecSources> {
  const context = linux?.securityContext;
  const isMarked = context?.selinuxOptions !== undefined || (context?.apparmor?.localhostRef ?? '') !== '';
  const asks = isMarked || (context?.apparmorProfile ?? '') !== '' || sandbox.Config.NetworkDisabled;
  const path = seccompProfilePath(context);
  return {
    ...{ sandboxConfig, sandbox },
    ...(await networkFiles(filesOf, { sandbox, sandboxConfig })),
    security: {
      options: asks ? (await facts.info(signal)).SecurityOptions : [],
      ...(path !== undefined && { seccompProfile: await readSeccompProfile(path) }),
    },
    oomScoreAdj: allowedOomScoreAdj(oomScoreOf(linux?.resources)),
    hasCdi: CDIDevices.length > 0 && hasCdi(await facts.version(signal)),
  };
}

/** Returns the directory of the pod's network files. Recreates files that were lost with a previous root directory. */
async function networkFiles(
  filesOf: ContainerServices['filesOf'],
  { sandbox, sandboxConfig }: Pick<SpecSources, 'sandboxConfig'> & { sandbox: ContainerInspection },
): Promise<Pick<SpecSources, 'networkFiles'>> {
  if (!sandbox.Config.NetworkDisabled) return {};
  const directory = filesOf(sandbox.Id);
  await writeNetworkFiles(directory, networkNames(sandbox.Id, sandboxConfig));
  return { networkFiles: directory };
}

function hasCdi({ ApiVersion }: EngineVersion): boolean {
  const [major, minor] = ApiVersion.split('.').map(Number);
  return major === 1 && (minor ?? 0) >= CDI_API_MINOR;
}

/** Creates missing host paths as directories, as containerd does. Otherwise, the Engine would reject the mounts. */
async function makeHostPaths({ mounts }: ContainerConfig): Promise<void> {
  for (const { hostPath } of mounts) {
    try {
      await mkdir(hostPath, { recursive: true, mode: HOST_PATH_DIRECTORY });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue; // EEXIST: the path is a file
      throw wrapError(`make host path ${hostPath} of a mount`, error);
    }
  }
}

function within<T>(attempted: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw wrapError(attempted, error);
  }
}
