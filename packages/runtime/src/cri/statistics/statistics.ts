import {
  type ContainerStatsSchema,
  containerStatsMessage,
  type MeasuredContainer,
  type MessageInitShape,
  type PodSandboxStatsSchema,
  sandboxStatsMessage,
} from '@podwright/cri';
import type { ContainerRecord } from '../../records/container-record.ts';
import type { SandboxRecord } from '../../records/sandbox-record.ts';
import type { ContainerUse, SandboxUse } from '../../statistics/statistics.ts';
import { sandboxMetadata } from '../messages/sandbox-message.ts';

/** Converts a container's usage to a CRI message. */
export function criContainerStats(
  record: ContainerRecord,
  use: ContainerUse,
  mountpoint: string,
): MessageInitShape<typeof ContainerStatsSchema> {
  return containerStatsMessage(measured({ record, use, mountpoint }));
}

/** Converts a pod's usage to a CRI message: the usage of its cgroup or, if it has none, the sum of its containers' usage. */
export function criSandboxStats(
  { id, config }: SandboxRecord,
  use: SandboxUse,
  containers: { record: ContainerRecord; use: ContainerUse; mountpoint: string }[],
): MessageInitShape<typeof PodSandboxStatsSchema> {
  const { labels, annotations } = config;
  const attributes = { id, metadata: sandboxMetadata(config), labels, annotations };
  return sandboxStatsMessage({ attributes, use, containers: containers.map(measured) });
}

function measured({
  record: { id, config },
  use,
  mountpoint,
}: {
  record: ContainerRecord;
  use: ContainerUse;
  mountpoint: string;
}): MeasuredContainer {
  const { name, attempt, labels, annotations } = config;
  return { attributes: { id, metadata: { name, attempt }, labels, annotations }, use, mountpoint };
}
