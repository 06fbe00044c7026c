import { isUnimplemented } from '@podwright/base';
import { type CriClient, type Metric, MetricType, type PodSandboxMetrics } from '@podwright/cri';
import { STATISTICS_TIMEOUT_MS } from '../stats/limits.ts';
import type { ContainerStats, PodStats, Summary } from '../stats/summary.ts';
import type { MetricFamily, MetricSample } from './exposition.ts';

const NANOSECONDS_PER_MS = 1_000_000n;

/**
 * Returns the container metrics for `/metrics/cadvisor`. Like upstream with PodAndContainerStatsFromCRI, uses the container runtime's
 * ListPodSandboxMetrics. If the runtime does not implement that call, the metrics are derived from the stats summary.
 */
export async function containerMetrics(cri: CriClient, summary: () => Promise<Summary>): Promise<MetricFamily[]> {
  try {
    const options = { timeoutMs: STATISTICS_TIMEOUT_MS };
    const [{ descriptors }, { podMetrics }] = await Promise.all([
      cri.runtime.listMetricDescriptors({}, options),
      cri.runtime.listPodSandboxMetrics({}, options),
    ]);
    return familiesOf(descriptors, podMetrics);
  } catch (error) {
    if (!isUnimplemented(error)) throw error;
    return summaryMetrics(await summary());
  }
}

type Descriptor = { name: string; help: string; labelKeys: string[] };

/** Groups metrics by name. As in upstream, metrics that have no descriptor or a different number of labels are skipped. Pure. */
export function familiesOf(descriptors: Descriptor[], pods: PodSandboxMetrics[]): MetricFamily[] {
  const families = new Map<string, MetricFamily>();
  const described = new Map(descriptors.map((one) => [one.name, one]));
  for (const { metrics, containerMetrics } of pods) {
    for (const metric of [...metrics, ...containerMetrics.flatMap((container) => container.metrics)]) {
      const descriptor = described.get(metric.name);
      if (descriptor === undefined || descriptor.labelKeys.length !== metric.labelValues.length) continue;
      const family = families.get(metric.name) ?? newFamily(descriptor, metric);
      families.set(metric.name, family);
      family.samples.push(sampleOf(descriptor, metric));
    }
  }
  return [...families.values()];
}

function newFamily({ name, help }: Descriptor, { metricType }: Metric): MetricFamily {
  return { name, help, type: metricType === MetricType.COUNTER ? 'counter' : 'gauge', samples: [] };
}

function sampleOf({ labelKeys }: Descriptor, { labelValues, value, timestamp }: Metric): MetricSample {
  return {
    labels: Object.fromEntries(labelKeys.map((key, index) => [key, labelValues[index]!])),
    value: Number(value?.value ?? 0n),
    ...(timestamp > 0n && { atMs: Number(timestamp / NANOSECONDS_PER_MS) }),
  };
}

type Interface = NonNullable<NonNullable<PodStats['network']>['interfaces']>[number];
type Known = { type: MetricFamily['type']; help: string };
type OfContainer = Known & { of: 'container'; read: (container: ContainerStats) => number | undefined };
type OfInterface = Known & { of: 'interface'; read: (one: Interface) => number | undefined };

const ofContainer = (type: Known['type'], help: string, read: OfContainer['read']): OfContainer => ({
  of: 'container',
  ...{ type, help, read },
});
const ofInterface = (help: string, read: OfInterface['read']): OfInterface => ({
  of: 'interface',
  ...{ type: 'counter', help, read },
});

/** The cAdvisor metrics that can be derived from the stats summary. */
const KNOWN: Record<string, OfContainer | OfInterface> = {
  container_cpu_usage_seconds_total: ofContainer('counter', 'Cumulative cpu time consumed in seconds.', cpuSeconds),
  container_memory_working_set_bytes: ofContainer(
    'gauge',
    'Current working set in bytes.',
    ({ memory }) => memory?.workingSetBytes,
  ),
  container_memory_usage_bytes: ofContainer(
    'gauge',
    'Current memory usage in bytes, including all memory regardless of when it was accessed',
    ({ memory }) => memory?.usageBytes,
  ),
  container_memory_rss: ofContainer('gauge', 'Size of RSS in bytes.', ({ memory }) => memory?.rssBytes),
  container_memory_swap: ofContainer('gauge', 'Container swap usage in bytes.', ({ swap }) => swap?.swapUsageBytes),
  container_fs_usage_bytes: ofContainer(
    'gauge',
    'Number of bytes that are consumed by the container on this filesystem.',
    ({ rootfs }) => rootfs?.usedBytes,
  ),
  container_fs_limit_bytes: ofContainer(
    'gauge',
    'Number of bytes that can be consumed by the container on this filesystem.',
    ({ rootfs }) => rootfs?.capacityBytes,
  ),
  container_start_time_seconds: ofContainer(
    'gauge',
    'Start time of the container since unix epoch in seconds.',
    ({ startTime }) => startTime.getTime() / 1000,
  ),
  container_network_receive_bytes_total: ofInterface('Cumulative count of bytes received', ({ rxBytes }) => rxBytes),
  container_network_receive_errors_total: ofInterface(
    'Cumulative count of errors encountered while receiving',
    ({ rxErrors }) => rxErrors,
  ),
  container_network_transmit_bytes_total: ofInterface(
    'Cumulative count of bytes transmitted',
    ({ txBytes }) => txBytes,
  ),
  container_network_transmit_errors_total: ofInterface(
    'Cumulative count of errors encountered while transmitting',
    ({ txErrors }) => txErrors,
  ),
};

/** Derives cAdvisor metrics from the stats summary. Pure. */
export function summaryMetrics({ pods }: Summary): MetricFamily[] {
  return Object.entries(KNOWN).map(([name, known]) => {
    const samples = pods.flatMap((pod) =>
      known.of === 'container' ? ofContainers(pod, known) : ofNetwork(pod, known),
    );
    return { name, type: known.type, help: known.help, samples };
  });
}

function ofContainers({ containers, podRef }: PodStats, { read }: OfContainer): MetricSample[] {
  return containers.flatMap((one) => {
    const labels = { container: one.name, namespace: podRef.namespace, pod: podRef.name };
    const value = read(one);
    return value === undefined ? [] : [{ labels, value }];
  });
}

function ofNetwork({ network, podRef }: PodStats, { read }: OfInterface): MetricSample[] {
  return (network?.interfaces ?? []).flatMap((one) => {
    const labels = { namespace: podRef.namespace, pod: podRef.name, interface: one.name };
    const value = read(one);
    return value === undefined ? [] : [{ labels, value }];
  });
}

function cpuSeconds({ cpu }: ContainerStats): number | undefined {
  return cpu?.usageCoreNanoSeconds === undefined ? undefined : cpu.usageCoreNanoSeconds / 1e9;
}
