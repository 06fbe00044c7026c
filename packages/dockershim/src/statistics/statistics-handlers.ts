import {
  containerStatsMessage,
  givenId,
  matchesLabels,
  type RuntimeHandlers,
  sandboxStatsMessage,
} from '@podwright/cri';
import type { ContainerSummary } from '../engine/engine-types.ts';
import { CONTAINER_TYPE, criMarks, SANDBOX_ID_LABEL, SANDBOX_TYPE } from '../labels/labels.ts';
import { Meter, type StatisticsServices } from './meter.ts';

type Verbs = 'containerStats' | 'listContainerStats' | 'podSandboxStats' | 'listPodSandboxStats';

/** The CRI's statistics calls. They read the kernel's counters directly, because the Engine takes a second or more per container. */
export function statisticsHandlers(services: StatisticsServices): Pick<RuntimeHandlers, Verbs> {
  const meter = new Meter(services);
  return {
    containerStats: async ({ containerId }, { signal }) => {
      const attempted = 'statistics of a container';
      const container = await meter.one(CONTAINER_TYPE, givenId(attempted, containerId), signal);
      return { stats: containerStatsMessage(await meter.ofContainer(container, signal)) };
    },
    listContainerStats: async ({ filter }, { signal }) => {
      const { id = '', podSandboxId = '', labelSelector = {} } = filter ?? {};
      const running = await meter.running(CONTAINER_TYPE, signal);
      const wanted = running.filter(
        ({ Id, Labels }) =>
          Id.startsWith(id) &&
          (Labels[SANDBOX_ID_LABEL] ?? '').startsWith(podSandboxId) &&
          matchesLabels(criMarks(Labels).labels, labelSelector),
      );
      return {
        stats: await meter.each(wanted, async (one) => containerStatsMessage(await meter.ofContainer(one, signal))),
      };
    },
    podSandboxStats: async ({ podSandboxId }, { signal }) => {
      const attempted = 'statistics of a sandbox';
      const sandbox = await meter.one(SANDBOX_TYPE, givenId(attempted, podSandboxId), signal);
      const containers = await meter.running(CONTAINER_TYPE, signal);
      return { stats: sandboxStatsMessage(await meter.ofSandbox(sandbox, containers, signal)) };
    },
    listPodSandboxStats: async ({ filter }, { signal }) => {
      const { id = '', labelSelector = {} } = filter ?? {};
      const [sandboxes, containers] = await Promise.all([
        meter.running(SANDBOX_TYPE, signal),
        meter.running(CONTAINER_TYPE, signal),
      ]);
      const wanted = sandboxes.filter(
        ({ Id, Labels }) => Id.startsWith(id) && matchesLabels(criMarks(Labels).labels, labelSelector),
      );
      const measure = async (one: ContainerSummary) =>
        sandboxStatsMessage(await meter.ofSandbox(one, containers, signal));
      return { stats: await meter.each(wanted, measure) };
    },
  };
}
