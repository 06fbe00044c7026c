import type { ContainerStats, PodStats, Summary } from '../stats/summary.ts';
import type { MetricFamily, MetricSample } from './exposition.ts';

type Timed = { time: Date } | undefined;

const seconds = (nanoseconds: number) => nanoseconds / 1e9;

/**
 * Returns the metrics for `/metrics/resource` (upstream's resource_metrics.go): CPU, memory and swap of the node, its pods and their
 * containers. `summary` is `undefined` if it could not be read. Pure.
 */
export function resourceMetrics(summary: Summary | undefined): MetricFamily[] {
  const failed = [{ value: summary === undefined ? 1 : 0 }];
  return [
    ...(summary === undefined ? [] : [...nodeMetrics(summary), ...containerMetrics(summary), ...podMetrics(summary)]),
    gauge('resource_scrape_error', '1 if there was an error while getting container metrics, 0 otherwise', failed),
  ];
}

function nodeMetrics({ node: { cpu, memory, swap } }: Summary): MetricFamily[] {
  return [
    counter(
      'node_cpu_usage_seconds_total',
      'Cumulative cpu time consumed by the node in core-seconds',
      timed(cpu, cpu?.usageCoreNanoSeconds, { convert: seconds }),
    ),
    gauge(
      'node_memory_working_set_bytes',
      'Current working set of the node in bytes',
      timed(memory, memory?.workingSetBytes),
    ),
    gauge(
      'node_swap_usage_bytes',
      'Current swap usage of the node in bytes. Reported only on non-windows systems',
      timed(swap, swap?.swapUsageBytes),
    ),
  ];
}

function containerMetrics({ pods }: Summary): MetricFamily[] {
  const each = (read: (container: ContainerStats, labels: Record<string, string>) => MetricSample[]) =>
    pods.flatMap((pod) => pod.containers.flatMap((one) => read(one, { container: one.name, ...podLabels(pod) })));
  return [
    gauge(
      'container_start_time_seconds',
      'Start time of the container since unix epoch in seconds',
      each(({ startTime }, labels) => [{ labels, value: startTime.getTime() / 1000 }]),
    ),
    counter(
      'container_cpu_usage_seconds_total',
      'Cumulative cpu time consumed by the container in core-seconds',
      each(({ cpu }, labels) => timed(cpu, cpu?.usageCoreNanoSeconds, { convert: seconds, labels })),
    ),
    gauge(
      'container_memory_working_set_bytes',
      'Current working set of the container in bytes',
      each(({ memory }, labels) => timed(memory, memory?.workingSetBytes, { labels })),
    ),
    gauge(
      'container_swap_usage_bytes',
      'Current amount of the container swap usage in bytes. Reported only on non-windows systems',
      each(({ swap }, labels) => timed(swap, swap?.swapUsageBytes, { labels })),
    ),
    gauge(
      'container_swap_limit_bytes',
      'Current amount of the container swap limit in bytes. Reported only on non-windows systems',
      each(({ swap }, labels) => {
        const available = swap?.swapAvailableBytes;
        return timed(swap, available && available + (swap?.swapUsageBytes ?? 0), { labels });
      }),
    ),
  ];
}

function podMetrics({ pods }: Summary): MetricFamily[] {
  return [
    counter(
      'pod_cpu_usage_seconds_total',
      'Cumulative cpu time consumed by the pod in core-seconds',
      pods.flatMap((pod) =>
        timed(pod.cpu, pod.cpu?.usageCoreNanoSeconds, { convert: seconds, labels: podLabels(pod) }),
      ),
    ),
    gauge(
      'pod_memory_working_set_bytes',
      'Current working set of the pod in bytes',
      pods.flatMap((pod) => timed(pod.memory, pod.memory?.workingSetBytes, { labels: podLabels(pod) })),
    ),
    gauge(
      'pod_swap_usage_bytes',
      'Current amount of the pod swap usage in bytes. Reported only on non-windows systems',
      pods.flatMap((pod) => timed(pod.swap, pod.swap?.swapUsageBytes, { labels: podLabels(pod) })),
    ),
  ];
}

const podLabels = ({ podRef }: PodStats) => ({ pod: podRef.name, namespace: podRef.namespace });

/** Returns a list with one sample and its time of measurement, or an empty list if the value is unknown. */
function timed(
  part: Timed,
  value: number | undefined,
  { convert, labels }: { convert?: (value: number) => number; labels?: Record<string, string> } = {},
): MetricSample[] {
  if (part === undefined || value === undefined) return [];
  return [{ labels, value: convert === undefined ? value : convert(value), atMs: part.time.getTime() }];
}

const counter = (name: string, help: string, samples: MetricSample[]): MetricFamily => ({
  name,
  help,
  type: 'counter',
  samples,
});
const gauge = (name: string, help: string, samples: MetricSample[]): MetricFamily => ({
  name,
  help,
  type: 'gauge',
  samples,
});
