import {
  type ContainerFilter,
  type ContainerSchema,
  ContainerState,
  type ContainerStatusSchema,
  criSignal,
  type LinuxContainerResourcesSchema,
  type MessageInitShape,
  MountPropagation,
  type MountSchema,
  matchesLabels,
} from '@podwright/cri';
import type { ImageService } from '@podwright/images';
import type {
  ContainerEnd,
  ContainerMount,
  ContainerRecord,
  ContainerResources,
} from '../../records/container-record.ts';
import { toNanoseconds } from '../../records/ids.ts';

/** Builds a container message for ListContainers. */
export function criContainer(record: ContainerRecord): MessageInitShape<typeof ContainerSchema> {
  return {
    id: record.id,
    podSandboxId: record.sandboxId,
    metadata: { name: record.config.name, attempt: record.config.attempt },
    image: imageSpec(record, record.config.image.reference),
    imageRef: record.image.id,
    imageId: record.image.id,
    state: containerState(record),
    createdAt: toNanoseconds(record.createdAtMs),
    labels: record.config.labels,
    annotations: record.config.annotations,
  };
}

/** Builds a container message for ContainerStatus. The image names are those currently in the image store. */
export function criContainerStatus(
  record: ContainerRecord,
  images: Pick<ImageService, 'find'>,
): MessageInitShape<typeof ContainerStatusSchema> {
  const { config, user } = record;
  const image = images.find(record.image.id);
  const startedAtMs = record.state.phase === 'running' ? record.state.startedAtMs : (endOf(record)?.startedAtMs ?? 0);
  return {
    id: record.id,
    metadata: { name: config.name, attempt: config.attempt },
    state: containerState(record),
    createdAt: toNanoseconds(record.createdAtMs),
    startedAt: toNanoseconds(startedAtMs),
    ...endFields(record),
    image: imageSpec(record, image?.repoTags[0] ?? image?.repoDigests[0] ?? config.image.reference),
    imageRef: image?.repoDigests[0] ?? (record.image.repoDigest || record.image.id),
    imageId: record.image.id,
    labels: config.labels,
    annotations: config.annotations,
    mounts: config.mounts.map((mount) => criMount(mount, images)),
    logPath: record.logPath,
    resources: { linux: criResources(config.resources) },
    user: {
      linux: {
        uid: BigInt(user.uid),
        gid: BigInt(user.gid),
        supplementalGroups: [...new Set([user.gid, ...user.additionalGids])].map(BigInt),
      },
    },
    stopSignal: criSignal(record.stopSignal),
  };
}

/** Whether the container matches the filter. ID prefixes in the filter must already have been expanded to full IDs. */
export function matchesContainer(record: ContainerRecord, filter: ContainerFilter | undefined): boolean {
  if (filter === undefined) return true;
  if (filter.id !== '' && filter.id !== record.id) return false;
  if (filter.podSandboxId !== '' && filter.podSandboxId !== record.sandboxId) return false;
  if (filter.state !== undefined && filter.state.state !== containerState(record)) return false;
  return matchesLabels(record.config.labels, filter.labelSelector);
}

const STATES: Record<ContainerRecord['state']['phase'], ContainerState> = {
  creating: ContainerState.CONTAINER_UNKNOWN,
  created: ContainerState.CONTAINER_CREATED,
  starting: ContainerState.CONTAINER_CREATED,
  running: ContainerState.CONTAINER_RUNNING,
  exited: ContainerState.CONTAINER_EXITED,
  removing: ContainerState.CONTAINER_EXITED,
};

export const containerState = (record: ContainerRecord): ContainerState => STATES[record.state.phase];

function endOf({ state }: ContainerRecord): ContainerEnd | undefined {
  return state.phase === 'exited' ? state : state.phase === 'removing' ? state.end : undefined;
}

function endFields(record: ContainerRecord) {
  const end = endOf(record);
  if (end === undefined) return {};
  const { finishedAtMs, exitCode, reason, message } = end;
  return { finishedAt: toNanoseconds(finishedAtMs), exitCode, reason, message };
}

function imageSpec({ config: { image } }: ContainerRecord, name: string) {
  return {
    image: name,
    annotations: image.annotations,
    userSpecifiedImage: image.userSpecified,
    runtimeHandler: image.runtimeHandler,
  };
}

const PROPAGATIONS: Record<ContainerMount['propagation'], MountPropagation> = {
  private: MountPropagation.PROPAGATION_PRIVATE,
  'host-to-container': MountPropagation.PROPAGATION_HOST_TO_CONTAINER,
  bidirectional: MountPropagation.PROPAGATION_BIDIRECTIONAL,
};

function criMount(mount: ContainerMount, images: Pick<ImageService, 'find'>): MessageInitShape<typeof MountSchema> {
  const { containerPath, hostPath, readonly, recursiveReadOnly, selinuxRelabel, imageSubPath } = mount;
  // unlike for the container's own image, critest expects the imageRef returned by PullImage for an image mount
  const image = mount.image === '' ? undefined : { image: mount.image, imageRef: images.find(mount.image)?.id ?? '' };
  const propagation = PROPAGATIONS[mount.propagation];
  const { uids: uidMappings = [], gids: gidMappings = [] } = mount.mappings ?? {};
  const flags = { readonly, recursiveReadOnly, selinuxRelabel, propagation, uidMappings, gidMappings };
  return { containerPath, hostPath, imageSubPath, image, ...flags };
}

function criResources(resources: ContainerResources): MessageInitShape<typeof LinuxContainerResourcesSchema> {
  return {
    cpuPeriod: BigInt(resources.cpuPeriod),
    cpuQuota: BigInt(resources.cpuQuota),
    cpuShares: BigInt(resources.cpuShares),
    memoryLimitInBytes: BigInt(resources.memoryLimitBytes),
    memorySwapLimitInBytes: BigInt(resources.memorySwapLimitBytes),
    oomScoreAdj: BigInt(resources.oomScoreAdj),
    cpusetCpus: resources.cpusetCpus,
    cpusetMems: resources.cpusetMems,
    hugepageLimits: resources.hugepageLimits.map(({ pageSize, limitBytes }) => ({
      pageSize,
      limit: BigInt(limitBytes),
    })),
    unified: resources.unified,
  };
}
