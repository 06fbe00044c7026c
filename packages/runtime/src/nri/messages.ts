import {
  CDIDeviceSchema,
  type Container,
  ContainerState,
  containerOfSpec,
  create,
  ImageSchema,
  type LinuxResources,
  type PodSandbox,
  PodSandboxSchema,
  SecurityProfile_ProfileType as ProfileType,
  resourcesMessage,
  SecurityProfileSchema,
} from '@podwright/nri';
import type { OciSpec } from '@podwright/oci';
import type { ContainerRecord, ContainerResources, SecurityProfile } from '../records/container-record.ts';
import type { SandboxRecord } from '../records/sandbox-record.ts';

/** Paths of a sandbox's namespaces. */
export type Namespaces = { [type in 'network' | 'ipc' | 'uts' | 'user']?: string };

// This module imports all NRI protobuf messages, which take several megabytes of memory, so load it only when a plugin is connected.

export { adjustSpec } from '@podwright/nri';

/** Converts a sandbox to the message sent to NRI plugins. */
export function podMessage(record: SandboxRecord, namespaces: Namespaces): PodSandbox {
  const { id, config, ips, resources = config.resources } = record;
  return create(PodSandboxSchema, {
    id,
    name: config.podName,
    uid: config.podUid,
    namespace: config.podNamespace,
    labels: config.labels,
    annotations: config.annotations,
    runtimeHandler: config.runtimeHandler,
    ips,
    linux: {
      cgroupParent: config.cgroupParent,
      namespaces: Object.entries(namespaces).map(([type, path]) => ({ type, path })),
      podOverhead: resources && requestedResources(resources.overhead),
      podResources: resources && requestedResources(resources.containers),
    },
  });
}

/** Returns the pod message, with only an ID, for a container whose sandbox record has been removed. */
export const podlessMessage = (id: string): PodSandbox => create(PodSandboxSchema, { id });

/**
 * Converts a container to the message sent to plugins. `spec`: its OCI spec, if already built. `pid`: its process, if created but not
 * started.
 */
export function containerMessage(
  record: ContainerRecord,
  { spec, pid }: { spec: OciSpec | undefined; pid?: number | undefined },
): Container {
  return Object.assign(containerWithoutState(record, spec), stateFields(record, pid));
}

/** Returns a container's message without the fields of `stateFields`. */
export function containerWithoutState(record: ContainerRecord, spec: OciSpec | undefined): Container {
  const { id, sandboxId, config, image, createdAtMs } = record;
  const message = containerOfSpec(spec ?? {});
  Object.assign(message.annotations, config.annotations);
  message.linux!.seccompProfile = create(SecurityProfileSchema, seccompProfile(config.security.seccomp));
  return Object.assign(message, {
    id,
    podSandboxId: sandboxId,
    name: config.name,
    labels: config.labels,
    createdAt: nanoseconds(createdAtMs),
    cdiDevices: (config.cdiDevices ?? []).map((name) => create(CDIDeviceSchema, { name })),
    image: create(ImageSchema, {
      name: config.image.reference,
      digest: image.repoDigest.split('@')[1] ?? '',
      configDigest: image.id,
    }),
  });
}

/** Returns the fields of a container's message that depend on its state. `pid`: see `containerMessage`. */
export function stateFields({ state }: ContainerRecord, pid = 0) {
  const end = state.phase === 'exited' ? state : state.phase === 'removing' ? state.end : undefined;
  return {
    state: STATES[state.phase],
    pid: state.phase === 'running' ? state.pid : pid,
    startedAt: nanoseconds(state.phase === 'running' ? state.startedAtMs : (end?.startedAtMs ?? 0)),
    finishedAt: nanoseconds(end?.finishedAtMs ?? 0),
    exitCode: end?.exitCode ?? 0,
    statusReason: end?.reason ?? '',
    statusMessage: end?.message ?? '',
  };
}

/**
 * Converts the resources requested by a client. As in containerd, the CPU fields and the memory limit are always set; 0 means no change.
 */
export function requestedResources(resources: ContainerResources): LinuxResources {
  const { cpuShares, cpuQuota, cpuPeriod, cpusetCpus, cpusetMems, memoryLimitBytes, memorySwapLimitBytes } = resources;
  return resourcesMessage({
    cpu: { shares: cpuShares, quota: cpuQuota, period: cpuPeriod, cpus: cpusetCpus, mems: cpusetMems },
    memory: { limit: memoryLimitBytes, ...(memorySwapLimitBytes === 0 ? {} : { swap: memorySwapLimitBytes }) },
    hugepageLimits: resources.hugepageLimits.map(({ pageSize, limitBytes }) => ({ pageSize, limit: limitBytes })),
    unified: resources.unified,
  });
}

const STATES: Record<ContainerRecord['state']['phase'], ContainerState> = {
  creating: ContainerState.CONTAINER_UNKNOWN,
  created: ContainerState.CONTAINER_CREATED,
  starting: ContainerState.CONTAINER_CREATED,
  running: ContainerState.CONTAINER_RUNNING,
  exited: ContainerState.CONTAINER_STOPPED,
  removing: ContainerState.CONTAINER_STOPPED,
};

const PROFILES = {
  'runtime-default': ProfileType.RUNTIME_DEFAULT,
  unconfined: ProfileType.UNCONFINED,
  localhost: ProfileType.LOCALHOST,
};

function seccompProfile(profile: SecurityProfile) {
  return { profileType: PROFILES[profile.type], localhostRef: profile.type === 'localhost' ? profile.ref : '' };
}

const nanoseconds = (milliseconds: number) => BigInt(Math.round(milliseconds)) * 1_000_000n;
