import { PodwrightError } from '@podwright/base';
import {
  type ContainerConfig as CriContainerConfig,
  type SecurityProfile as CriSecurityProfile,
  type LinuxContainerResources,
  type LinuxContainerSecurityContext,
  type Mount,
  MountPropagation,
  NamespaceMode,
  type NamespaceOption,
  SecurityProfile_ProfileType as ProfileType,
  SupplementalGroupsPolicy,
} from '@podwright/cri';
import { askedDevices } from '../cdi/device-name.ts';
import type {
  ContainerConfig,
  ContainerMount,
  ContainerPidMode,
  ContainerResources,
  ContainerSecurity,
  SecurityProfile,
} from '../containers/container-record.ts';
import { selinuxOf } from './selinux.ts';
import { signalName } from './signals.ts';
import { mountMappings, userNamespaceOf } from './user-namespace.ts';

/** Most mounts and environment variables of one container; the kernel and the OCI runtime choke on far more. */
const MAX_ENTRIES = 100_000;

/** The CRI's container configuration in our own words. What makes no sense is an `invalid_argument`. */
export function containerConfig(config: CriContainerConfig | undefined): ContainerConfig {
  if (config?.metadata === undefined) throw invalid('the container configuration has no metadata');
  if (config.metadata.name === '') throw invalid('the container has no name');
  if (config.image === undefined || config.image.image === '') throw invalid('the container has no image');
  if (config.mounts.length > MAX_ENTRIES || config.envs.length > MAX_ENTRIES)
    throw invalid('too many mounts or variables');
  return {
    name: config.metadata.name,
    attempt: config.metadata.attempt,
    image: {
      reference: config.image.image,
      annotations: config.image.annotations,
      userSpecified: config.image.userSpecifiedImage,
      runtimeHandler: config.image.runtimeHandler,
    },
    command: config.command,
    args: config.args,
    workingDir: config.workingDir,
    envs: config.envs.map(({ key, value }) => ({ name: key, value: Buffer.from(value).toString('utf8') })),
    mounts: config.mounts.map(mountOf),
    devices: config.devices.map(({ containerPath, hostPath, permissions }) => ({
      containerPath,
      hostPath,
      permissions,
    })),
    cdiDevices: askedDevices(
      config.CDIDevices.map(({ name }) => name),
      config.annotations,
    ),
    labels: config.labels,
    annotations: config.annotations,
    logPath: config.logPath,
    stdin: config.stdin,
    stdinOnce: config.stdinOnce,
    tty: config.tty,
    stopSignal: signalName(config.stopSignal),
    resources: containerResources(config.linux?.resources),
    security: securityOf(config.linux?.securityContext),
  };
}

/** The CRI's resources as numbers; 0 and '' where nothing is said. */
export function containerResources(resources: LinuxContainerResources | undefined): ContainerResources {
  return {
    cpuPeriod: safeNumber(resources?.cpuPeriod),
    cpuQuota: safeNumber(resources?.cpuQuota),
    cpuShares: safeNumber(resources?.cpuShares),
    memoryLimitBytes: safeNumber(resources?.memoryLimitInBytes),
    memorySwapLimitBytes: safeNumber(resources?.memorySwapLimitInBytes),
    oomScoreAdj: safeNumber(resources?.oomScoreAdj),
    cpusetCpus: resources?.cpusetCpus ?? '',
    cpusetMems: resources?.cpusetMems ?? '',
    hugepageLimits: (resources?.hugepageLimits ?? []).map(({ pageSize, limit }) => ({
      pageSize,
      limitBytes: safeNumber(limit),
    })),
    unified: resources?.unified ?? {},
  };
}

const PROPAGATIONS: Record<MountPropagation, ContainerMount['propagation']> = {
  [MountPropagation.PROPAGATION_PRIVATE]: 'private',
  [MountPropagation.PROPAGATION_HOST_TO_CONTAINER]: 'host-to-container',
  [MountPropagation.PROPAGATION_BIDIRECTIONAL]: 'bidirectional',
};

function mountOf(mount: Mount): ContainerMount {
  const image = mount.image?.image ?? '';
  const { containerPath, hostPath } = mount;
  if (!containerPath.startsWith('/')) throw invalid(`mount path "${containerPath}" in the container is not absolute`);
  if (image === '' && !hostPath.startsWith('/')) {
    throw invalid(`mount ${containerPath}: its host path "${hostPath}" is not absolute`);
  }
  if (image !== '' && hostPath !== '') throw invalid(`mount ${containerPath}: it has both an image and a host path`);
  const propagation = PROPAGATIONS[mount.propagation];
  if (propagation === undefined) throw invalid(`mount ${containerPath}: propagation ${mount.propagation} is unknown`);
  if (mount.recursiveReadOnly && (!mount.readonly || propagation !== 'private')) {
    throw invalid(`mount ${containerPath}: recursively read-only needs read-only and private propagation`);
  }
  const mappings = mountMappings(mount.uidMappings, mount.gidMappings, `mount ${containerPath}`);
  if (mappings !== undefined && propagation === 'bidirectional') {
    throw invalid(`mount ${containerPath}: with ID mappings it cannot be bidirectional`);
  }
  return {
    ...(mappings === undefined ? {} : { mappings }),
    containerPath,
    hostPath,
    image,
    imageSubPath: mount.imageSubPath,
    readonly: mount.readonly,
    recursiveReadOnly: mount.recursiveReadOnly,
    propagation,
    selinuxRelabel: mount.selinuxRelabel,
  };
}

function securityOf(security: LinuxContainerSecurityContext | undefined): ContainerSecurity {
  const userNamespace = userNamespaceOf(security?.namespaceOptions?.usernsOptions);
  const runAsUser = security?.runAsUser?.value;
  const runAsGroup = security?.runAsGroup?.value;
  const runAsUsername = security?.runAsUsername ?? '';
  if (runAsGroup !== undefined && runAsUser === undefined && runAsUsername === '') {
    throw invalid('runAsGroup is set without runAsUser or runAsUsername');
  }
  const strict = security?.supplementalGroupsPolicy === SupplementalGroupsPolicy.Strict;
  return {
    privileged: security?.privileged ?? false,
    addCapabilities: security?.capabilities?.addCapabilities ?? [],
    dropCapabilities: security?.capabilities?.dropCapabilities ?? [],
    addAmbientCapabilities: security?.capabilities?.addAmbientCapabilities ?? [],
    pid: pidMode(security?.namespaceOptions),
    ...(userNamespace === undefined ? {} : { userNamespace }),
    ...(runAsUser === undefined ? {} : { runAsUser: userId(runAsUser, 'runAsUser') }),
    runAsUsername,
    ...(runAsGroup === undefined ? {} : { runAsGroup: userId(runAsGroup, 'runAsGroup') }),
    supplementalGroups: (security?.supplementalGroups ?? []).map((id) => userId(id, 'supplemental group')),
    supplementalGroupsPolicy: strict ? 'strict' : 'merge',
    readonlyRootfs: security?.readonlyRootfs ?? false,
    noNewPrivileges: security?.noNewPrivs ?? false,
    maskedPaths: security?.maskedPaths ?? [],
    readonlyPaths: security?.readonlyPaths ?? [],
    seccomp: profile('seccomp', security?.seccomp, security?.seccompProfilePath) ?? { type: 'unconfined' },
    apparmor: profile('apparmor', security?.apparmor, security?.apparmorProfile),
    ...selinuxOf(security?.selinuxOptions),
  };
}

function pidMode(options: NamespaceOption | undefined): ContainerPidMode {
  switch (options?.pid) {
    case NamespaceMode.CONTAINER:
      return { mode: 'container' };
    case NamespaceMode.NODE:
      return { mode: 'node' };
    case NamespaceMode.TARGET:
      return { mode: 'target', containerId: options.targetId };
    default:
      return { mode: 'pod' };
  }
}

/** The profile, or the older field as one string (`runtime/default`, `unconfined`, `localhost/NAME`); undefined without either. */
function profile(
  field: string,
  profile: CriSecurityProfile | undefined,
  old: string | undefined,
): SecurityProfile | undefined {
  if (profile === undefined) return oldProfile(field, old ?? '');
  if (profile.profileType !== ProfileType.Localhost && profile.localhostRef !== '') {
    throw invalid(`${field}: localhostRef "${profile.localhostRef}" is for the type Localhost alone`);
  }
  if (profile.profileType === ProfileType.RuntimeDefault) return { type: 'runtime-default' };
  if (profile.profileType === ProfileType.Unconfined) return { type: 'unconfined' };
  if (profile.profileType !== ProfileType.Localhost) throw invalid(`${field}: type ${profile.profileType} is unknown`);
  if (profile.localhostRef === '') throw invalid(`${field}: localhostRef is empty`);
  return { type: 'localhost', ref: profile.localhostRef.replace(/^localhost\//, '') };
}

function oldProfile(field: string, text: string): SecurityProfile | undefined {
  if (text === '') return undefined;
  if (text === 'runtime/default' || text === 'docker/default') return { type: 'runtime-default' };
  if (text === 'unconfined') return { type: 'unconfined' };
  if (text.startsWith('localhost/')) return { type: 'localhost', ref: text.slice('localhost/'.length) };
  throw invalid(`${field}: profile "${text}" is unknown`);
}

/** User and group ids of Linux have 32 bits, the last one being no id. */
function userId(value: bigint, what: string): number {
  if (value < 0n || value >= 0xffffffffn) throw invalid(`${what} ${value} is not an id`);
  return Number(value);
}

function safeNumber(value: bigint | undefined): number {
  const number = Number(value ?? 0n);
  if (!Number.isSafeInteger(number)) throw invalid(`resource value ${value} is out of range`);
  return number;
}

function invalid(message: string): PodwrightError {
  return new PodwrightError('invalid_argument', message);
}
