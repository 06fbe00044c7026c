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

/** What a container is made of beside its own configuration. */
export type SpecSources = {
  sandboxConfig: PodSandboxConfig;
  /** The sandbox as it is: what the pod's containers have from it. */
  sandbox: Pick<ContainerInspection, 'Id' | 'HostConfig'>;
  /** Where the pod's `hosts` and `resolv.conf` are, if the Engine does not write them. */
  networkFiles?: string;
  security: SecurityFacts;
  /** What is asked for, or as near as this host lets the Engine go. */
  oomScoreAdj: number;
  /** Whether the Engine knows the devices of the Container Device Interface (API 1.44). */
  hasCdi: boolean;
};

/**
 * What the Engine is asked for. Errors: `invalid_argument` (it makes no sense), `unimplemented` (Docker has no words for it),
 * `failed_precondition` (this Engine or host cannot).
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
    // an empty list is no list: the image's words count
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
    // namespaces are shared with those of the same users alone
    ...(UsernsMode !== '' && { UsernsMode }),
    RestartPolicy: { Name: 'no' },
  };
}

/** Without a label of the pod's own, Docker would give a volume that of one container, which then has it alone. */
function ownMounts({ mounts, linux }: ContainerConfig, { security }: SpecSources): LabelledMount[] {
  const isLabelled = linux?.securityContext?.selinuxOptions !== undefined && hasSecurity(security.options, 'selinux');
  return mounts.map((mount) => (isLabelled && mount.selinuxRelabel ? { mount, label: 'Z' } : { mount }));
}

/** All containers of the pod have them, so the label is one for all, as that of the Engine's own. */
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

/** What the whole pod must have been asked to allow. */
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

/** Where the client looks for the log, '' for nowhere. It never leads out of the pod's directory. */
function logPathOf(directory: string, path: string): string {
  if (directory === '' || path === '') return '';
  const whole = posix.join(plainText('logDirectory', directory), plainText('logPath', path));
  const isBelow = whole.startsWith(`${posix.normalize(directory).replace(/\/$/, '')}/`);
  if (directory.startsWith('/') && isBelow && !whole.endsWith('/')) return whole;
  throw invalid(`logPath "${path}" leads out of the sandbox's logDirectory "${directory}"`);
}

/** The Engine's configurations are UTF-8: other bytes become U+FFFD, as with every runtime. */
function variable({ key, value }: KeyValue): string {
  if (key === '' || key.includes('=')) throw invalid(`envs: "${key}" is no name of a variable`);
  return `${plainText('envs', key)}=${plainText(`variable ${key}`, Buffer.from(value).toString('utf8'))}`;
}
