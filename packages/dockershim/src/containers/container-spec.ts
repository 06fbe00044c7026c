import { posix } from 'node:path';
import {
  absolutePath,
  type ContainerConfig,
  create,
  invalid,
  type KeyValue,
  MountSchema,
  type PodSandboxConfig,
  plainText,
  signalName,
} from '@podwright/cri';
import type { ContainerInspection, ContainerSpec, HostConfig } from '../engine/engine-types.ts';
import {
  CONTAINER_TYPE,
  DETAILS_LABEL,
  dockerLabels,
  LOG_PATH_LABEL,
  SANDBOX_ID_LABEL,
  TYPE_LABEL,
} from '../labels/labels.ts';
import { networkFileMounts } from '../sandbox/network-files.ts';
import { hasSecurity } from '../sandbox/security-options.ts';
import { formatDetails } from './details.ts';
import { deviceConfig, type LabelledMount, mountConfig } from './mounts.ts';
import { namespaceModes, wantsOwnUsers } from './namespaces.ts';
import { dockerResources } from './resources.ts';
import { type SecurityFacts, securityConfig, userOf } from './security.ts';
import { unsupported } from './unsupported.ts';

/** Everything that a container's spec depends on, apart from its CRI configuration. */
export type SpecSources = {
  sandboxConfig: PodSandboxConfig;
  /** The sandbox's container, whose namespaces and host settings are shared by the pod's containers. */
  sandbox: Pick<ContainerInspection, 'Id' | 'HostConfig'>;
  /** Directory of the pod's `hosts` and `resolv.conf`, unless the Engine writes them. */
  networkFiles?: string;
  security: SecurityFacts;
  /** The requested `oom_score_adj`, or the nearest value that this process is allowed to set. */
  oomScoreAdj: number;
  /** Whether the Engine supports Container Device Interface devices (API 1.44). */
  hasCdi: boolean;
};

/**
 * Converts a container's configuration to the Engine's container spec. Throws `invalid_argument` if it is contradictory or malformed,
 * `unimplemented` if Docker has no equivalent, and `failed_precondition` if this Engine or host does not support it.
 */
export function containerSpec(config: ContainerConfig, sources: SpecSources): ContainerSpec {
  const { stdin, stdinOnce, tty } = config;
  const image = config.image?.image ?? '';
  if (image === '') throw invalid('the container has no image');
  const user = userOf(config.linux?.securityContext);
  const signal = signalName(config.stopSignal);
  const words = (field: string, given: string[]) => given.map((word) => plainText(field, word));
  return {
    Image: image,
    ...(user !== '' && { User: user }),
    Tty: tty,
    OpenStdin: stdin,
    StdinOnce: stdinOnce,
    Env: config.envs.map(variable),
    // an empty list makes the Engine use the image's own entrypoint or command
    ...(config.command.length > 0 && { Entrypoint: words('command', config.command) }),
    ...(config.args.length > 0 && { Cmd: words('args', config.args) }),
    ...(config.workingDir !== '' && { WorkingDir: absolutePath('workingDir', config.workingDir) }),
    Labels: labelsOf(config, sources),
    ...(signal !== '' && { StopSignal: signal }),
    Healthcheck: { Test: ['NONE'] },
    HostConfig: hostConfig(config, sources),
  };
}

function hostConfig(config: ContainerConfig, sources: SpecSources): HostConfig {
  const { sandbox, security, oomScoreAdj, hasCdi } = sources;
  const context = config.linux?.securityContext;
  checkPod(config, sources);
  const { CgroupParent, Runtime, UsernsMode } = sandbox.HostConfig;
  return {
    ...mountConfig([...ownMounts(config, sources), ...networkFiles(config, sources)]),
    ...namespaceModes(context?.namespaceOptions, sandbox.Id),
    ...securityConfig(context, security),
    ...dockerResources(config.linux?.resources),
    ...cdiDevices(config, hasCdi),
    Devices: deviceConfig(config.devices),
    OomScoreAdj: oomScoreAdj,
    CgroupParent,
    Runtime,
    // the container must use the sandbox's user mapping, because only containers with the same user mapping can share namespaces
    ...(UsernsMode !== '' && { UsernsMode }),
    RestartPolicy: { Name: 'no' },
  };
}

/**
 * Returns the requested mounts. If the pod has its own SELinux label, its volumes are relabeled; a label assigned by Docker would restrict
 * them to a single container.
 */
function ownMounts({ mounts, linux }: ContainerConfig, { security }: SpecSources): LabelledMount[] {
  const isLabelled = linux?.securityContext?.selinuxOptions !== undefined && hasSecurity(security.options, 'selinux');
  return mounts.map((mount) => (isLabelled && mount.selinuxRelabel ? { mount, label: 'Z' } : { mount }));
}

/**
 * Returns the mounts of the pod's network files. All containers of the pod share them, so they get the shared SELinux label, like the files
 * written by the Engine itself.
 */
function networkFiles({ mounts, linux }: ContainerConfig, sources: SpecSources): LabelledMount[] {
  const { networkFiles: directory, security } = sources;
  if (directory === undefined) return [];
  const taken = mounts.map(({ containerPath }) => posix.resolve('/', containerPath));
  const readonly = linux?.securityContext?.readonlyRootfs ?? false;
  const label = hasSecurity(security.options, 'selinux') ? ('z' as const) : undefined;
  return networkFileMounts(directory, taken).map((mount) => ({
    mount: create(MountSchema, { ...mount, readonly }),
    label,
  }));
}

/** Rejects container settings that are not allowed by the sandbox. */
function checkPod({ linux }: ContainerConfig, { sandbox, sandboxConfig }: SpecSources): void {
  const own = linux?.securityContext;
  const pod = sandboxConfig.linux?.securityContext;
  if (own?.privileged && !pod?.privileged)
    throw invalid(`it is privileged, but its sandbox ${sandbox.Id} was not asked to allow that`);
  if (wantsOwnUsers(own?.namespaceOptions) && !wantsOwnUsers(pod?.namespaceOptions))
    throw invalid(`it has a user namespace, but its sandbox ${sandbox.Id} has none`);
}

function cdiDevices({ CDIDevices }: ContainerConfig, hasCdi: boolean): Pick<HostConfig, 'DeviceRequests'> {
  if (CDIDevices.length === 0) return {};
  const names = CDIDevices.map(({ name }) => name);
  if (!hasCdi) throw unsupported(`CDI devices (${names.join(', ')}): Docker Engine 25 or later can`);
  return { DeviceRequests: [{ Driver: 'cdi', DeviceIDs: names }] };
}

function labelsOf(config: ContainerConfig, { sandbox, sandboxConfig }: SpecSources): Record<string, string> {
  return dockerLabels(config, {
    [TYPE_LABEL]: CONTAINER_TYPE,
    [SANDBOX_ID_LABEL]: sandbox.Id,
    [LOG_PATH_LABEL]: logPathOf(sandboxConfig.logDirectory, config.logPath),
    [DETAILS_LABEL]: formatDetails(config),
  });
}

/** Returns the log path that the client expects, or '' for none. Rejects a path outside the pod's log directory. */
function logPathOf(directory: string, path: string): string {
  if (directory === '' || path === '') return '';
  const whole = posix.join(plainText('logDirectory', directory), plainText('logPath', path));
  const isBelow = whole.startsWith(`${posix.normalize(directory).replace(/\/$/, '')}/`);
  if (directory.startsWith('/') && isBelow && !whole.endsWith('/')) return whole;
  throw invalid(`logPath "${path}" leads out of the sandbox's logDirectory "${directory}"`);
}

/** Encodes an environment variable. The Engine's configuration is UTF-8, so invalid bytes become U+FFFD. */
function variable({ key, value }: KeyValue): string {
  if (key === '' || key.includes('=')) throw invalid(`envs: "${key}" is not a valid variable name`);
  return `${plainText('envs', key)}=${plainText(`variable ${key}`, Buffer.from(value).toString('utf8'))}`;
}
