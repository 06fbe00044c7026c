import {
  matchesLabels,
  measureEach,
  messagePages,
  type PodSandboxStatsFilter,
  type RuntimeHandlers,
} from '@podwright/cri';
import { isReady, type SandboxRecord } from '../../records/sandbox-record.ts';
import type { CriServices } from '../services/services.ts';
import { criSandboxStats } from './statistics.ts';

type Needs = Pick<CriServices, 'containers' | 'sandboxes' | 'statistics' | 'logger'>;

/** PodSandboxStats: returns one pod's resource usage. */
export function sandboxStats(services: Needs): RuntimeHandlers['podSandboxStats'] {
  return async ({ podSandboxId }) => ({ stats: await statsOf(services, services.sandboxes.require(podSandboxId)) });
}

/** ListPodSandboxStats: returns the resource usage of each ready pod. */
export function sandboxStatsList(services: Needs): RuntimeHandlers['listPodSandboxStats'] {
  return async ({ filter }) => ({
    stats: await measure(services, select(services, filter)),
  });
}

/** StreamPodSandboxStats: the same list as ListPodSandboxStats, split into several messages. */
export function sandboxStatsStream(services: Needs): RuntimeHandlers['streamPodSandboxStats'] {
  return async function* ({ filter }) {
    const found = select(services, filter);
    for await (const podSandboxStats of messagePages(found, (some) => measure(services, some)))
      yield { podSandboxStats };
  };
}

function measure(services: Needs, records: SandboxRecord[]) {
  return measureEach(records, services, (record) => statsOf(services, record));
}

async function statsOf({ containers, statistics }: Needs, record: SandboxRecord) {
  // include exited containers, because their writable layers still use disk space
  const own = containers.list().filter(({ sandboxId }) => sandboxId === record.id);
  const mountpoint = statistics.layersMountpoint;
  const [use, ...uses] = await Promise.all([
    statistics.ofSandbox(record),
    ...own.map(async (container) => ({
      record: container,
      use: await statistics.ofContainer(container),
      mountpoint,
    })),
  ]);
  return criSandboxStats(record, use, uses);
}

function select({ sandboxes }: Needs, filter: PodSandboxStatsFilter | undefined): SandboxRecord[] {
  const ready = sandboxes.list().filter(isReady);
  if (filter === undefined) return ready;
  const id = filter.id === '' ? '' : sandboxes.find(filter.id)?.id;
  return ready.filter(
    (record) => (id === '' || id === record.id) && matchesLabels(record.config.labels, filter.labelSelector),
  );
}
