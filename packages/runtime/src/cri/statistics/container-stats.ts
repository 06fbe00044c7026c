import {
  type ContainerStatsFilter,
  matchesLabels,
  measureEach,
  messagePages,
  type RuntimeHandlers,
} from '@podwright/cri';
import type { ContainerRecord } from '../../records/container-record.ts';
import type { CriServices } from '../services/services.ts';
import { criContainerStats } from './statistics.ts';

type Needs = Pick<CriServices, 'containers' | 'sandboxes' | 'statistics' | 'logger'>;

/** ContainerStats: returns one container's resource usage. */
export function containerStats(services: Needs): RuntimeHandlers['containerStats'] {
  return async ({ containerId }) => ({ stats: await statsOf(services, services.containers.require(containerId)) });
}

/** ListContainerStats: returns the resource usage of each running container. */
export function containerStatsList(services: Needs): RuntimeHandlers['listContainerStats'] {
  return async ({ filter }) => ({
    stats: await measure(services, select(services, filter)),
  });
}

/** StreamContainerStats: the same list as ListContainerStats, split into several messages. */
export function containerStatsStream(services: Needs): RuntimeHandlers['streamContainerStats'] {
  return async function* ({ filter }) {
    const found = select(services, filter);
    for await (const containerStats of messagePages(found, (some) => measure(services, some))) yield { containerStats };
  };
}

function measure(services: Needs, records: ContainerRecord[]) {
  return measureEach(records, services, (record) => statsOf(services, record));
}

async function statsOf({ statistics }: Needs, record: ContainerRecord) {
  return criContainerStats(record, await statistics.ofContainer(record), statistics.layersMountpoint);
}

function select({ containers, sandboxes }: Needs, filter: ContainerStatsFilter | undefined): ContainerRecord[] {
  const running = containers.list().filter(({ state }) => state.phase === 'running');
  if (filter === undefined) return running;
  const id = filter.id === '' ? '' : containers.find(filter.id)?.id;
  const sandboxId = filter.podSandboxId === '' ? '' : sandboxes.find(filter.podSandboxId)?.id;
  return running.filter(
    (record) =>
      (id === '' || id === record.id) &&
      (sandboxId === '' || sandboxId === record.sandboxId) &&
      matchesLabels(record.config.labels, filter.labelSelector),
  );
}
