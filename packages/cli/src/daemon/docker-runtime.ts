import { errorCode, errorMessage, PodwrightError } from '@podwright/base';
import { type DockershimHandle, lookAtEngine, startDockershim } from '@podwright/dockershim';
import { parseEndpoint } from '@podwright/grpc';
import type { CgroupDriver } from '@podwright/host';
import type { KubeletOptions } from '@podwright/kubelet';
import type { NodeConfig } from '../settings/node-config.ts';
import { dockershimOptions } from './dockershim-options.ts';
import type { KubeletSettings } from './kubelet-settings.ts';
import type { SharedParts } from './shared-parts.ts';

/** A dockershim running in the kubelet's process, and the kubelet options for connecting to it. */
export type DockerRuntime = DockershimHandle & {
  place: Pick<KubeletOptions, 'runtimeEndpoint' | 'legacyLogs'>;
};

/** Rejects, with advice, if the configured Docker Engine does not respond or cannot run pods. */
export async function requireEngine(config: NodeConfig, signal?: AbortSignal): Promise<void> {
  const { dockerSocket, cgroupDriver: wanted } = dockershimOptions(config);
  try {
    await lookAtEngine(dockerSocket, { wanted, signal });
  } catch (error) {
    const help = engineHelp(error);
    if (help === undefined) throw error;
    throw new PodwrightError('unavailable', `${errorMessage(error)}; ${help}`);
  }
}

/** Returns advice for a Docker Engine that does not respond, or `undefined` if the error already contains it. */
export function engineHelp(error: unknown): string | undefined {
  switch (errorCode(error)) {
    case 'unavailable':
      return 'start it, or name its socket: docker_endpoint in [dockershim]';
    case 'deadline_exceeded':
      return "see in its log what it waits for ('journalctl -u docker'), or restart it";
    default:
      return undefined;
  }
}

/**
 * Starts the dockershim for `podwright kubelet --container-runtime=docker`. The kubelet's runtime endpoint and cgroup driver, if set, take
 * precedence. The cgroup driver must be the same as Docker's.
 */
export async function startDockerRuntime(
  { config, given }: Pick<KubeletSettings, 'config' | 'given'>,
  shared: SharedParts,
): Promise<DockerRuntime> {
  const endpoint = given.get('containerRuntimeEndpoint');
  const driver = given.get('cgroupDriver')?.value as CgroupDriver | '' | undefined;
  const options = dockershimOptions(config);
  return started({
    ...options,
    socket: endpoint === undefined ? options.socket : socketOf(String(endpoint.value), endpoint.place),
    cgroupDriver: driver || options.cgroupDriver,
    ...shared,
  });
}

/** Starts the dockershim for a node with `runtime = "docker"`, by default on the socket of the built-in container runtime. */
export async function startNodeDockershim(config: NodeConfig, shared: SharedParts): Promise<DockerRuntime> {
  const options = dockershimOptions(config);
  return started({ ...options, socket: config.dockershim.listen ?? config.criSocket, ...shared });
}

async function started(options: Parameters<typeof startDockershim>[0]): Promise<DockerRuntime> {
  const handle = await startDockershim(options);
  return { ...handle, place: { runtimeEndpoint: handle.endpoint, legacyLogs: handle.legacyLogs } };
}

function socketOf(endpoint: string, place: string): string {
  const parsed = parseEndpoint(endpoint);
  if (parsed.kind === 'unix') return parsed.path;
  throw new PodwrightError(
    'invalid_argument',
    `${place}: ${endpoint}: a dockershim is served on a unix socket: unix:///PATH`,
  );
}
