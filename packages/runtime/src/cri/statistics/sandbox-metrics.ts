import {
  type MessageInitShape,
  measureEach,
  messagePages,
  type PodSandboxMetricsSchema,
  type RuntimeHandlers,
} from '@podwright/cri';
import type { ContainerRecord } from '../../records/container-record.ts';
import { isReady, type SandboxConfig, type SandboxRecord } from '../../records/sandbox-record.ts';
import type { CriServices } from '../services/services.ts';
import { criMetrics } from './metric-descriptors.ts';
import { cgroupSamples, containerSamples, interfaceSamples } from './metric-samples.ts';

type Needs = Pick<CriServices, 'containers' | 'sandboxes' | 'statistics' | 'logger'>;

/** ListPodSandboxMetrics: returns the metrics of each ready pod and its running containers. */
export function sandboxMetricsList(services: Needs): RuntimeHandlers['listPodSandboxMetrics'] {
  return async () => ({ podMetrics: await measure(services, services.sandboxes.list().filter(isReady)) });
}

/** StreamPodSandboxMetrics: the same list as ListPodSandboxMetrics, split into several messages. */
export function sandboxMetricsStream(services: Needs): RuntimeHandlers['streamPodSandboxMetrics'] {
  return async function* () {
    const ready = services.sandboxes.list().filter(isReady);
    for await (const podSandboxMetrics of messagePages(ready, (some) => measure(services, some))) {
      yield { podSandboxMetrics };
    }
  };
}

function measure(services: Needs, sandboxes: SandboxRecord[]) {
  return measureEach(sandboxes, services, (record) => metricsOf(services, record));
}

/**
 * Returns the metrics of a pod and its containers. The pod's own metrics cover its network and its cgroup, if it has one; their container
 * name is empty.
 */
async function metricsOf(
  services: Needs,
  record: SandboxRecord,
): Promise<MessageInitShape<typeof PodSandboxMetricsSchema>> {
  const { containers, statistics } = services;
  const running = containers
    .list()
    .filter(({ sandboxId, state }) => sandboxId === record.id && state.phase === 'running');
  const { cgroup, interfaces } = await statistics.ofSandbox(record);
  const own = [...(cgroup === undefined ? [] : cgroupSamples(cgroup)), ...interfaceSamples(interfaces)];
  const labels = ['', record.config.cgroupParent, '', record.id, ...podLabels(record.config)];
  return {
    podSandboxId: record.id,
    metrics: criMetrics(labels, own),
    containerMetrics: await measureEach(running, services, (container) =>
      containerMetrics(services, container, record.config),
    ),
  };
}

async function containerMetrics({ statistics }: Needs, record: ContainerRecord, pod: SandboxConfig) {
  const details = await statistics.detailsOf(record);
  const { id, config } = record;
  const image = config.image.userSpecified === '' ? config.image.reference : config.image.userSpecified;
  const labels = [config.name, details.cgroupPath, image, id, ...podLabels(pod)];
  return { containerId: id, metrics: criMetrics(labels, containerSamples(record, details)) };
}

const podLabels = ({ podNamespace, podName }: SandboxConfig) => [podNamespace, podName];
