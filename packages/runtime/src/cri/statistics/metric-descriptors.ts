import {
  type MessageInitShape,
  type MetricDescriptorSchema,
  type MetricSchema,
  MetricType,
  type RuntimeHandlers,
} from '@podwright/cri';
import { toNanoseconds } from '../../records/ids.ts';

/** Description of a metric. Names and labels match cAdvisor's, so that dashboards and alerts written for cAdvisor keep working. */
type Described = { help: string; type: MetricType; labels: string[] };

const counter = (help: string, ...labels: string[]): Described => ({ help, type: MetricType.COUNTER, labels });
const gauge = (help: string, ...labels: string[]): Described => ({ help, type: MetricType.GAUGE, labels });

/** Labels of every metric: the container's name, cgroup path, image and container ID, and the pod's namespace and name. */
export const BASE_LABELS = ['container', 'id', 'image', 'name', 'namespace', 'pod'];

/** All metrics by name. Fixed while the container runtime is running, because the kubelet reads the descriptors only once. */
const METRICS = {
  container_blkio_device_usage_total: counter(
    'Bytes read from and written to block devices',
    'device',
    'major',
    'minor',
    'operation',
  ),
  container_cpu_cfs_periods_total: counter('Periods of the CPU quota that have passed'),
  container_cpu_cfs_throttled_periods_total: counter('Periods of the CPU quota in which the container was throttled'),
  container_cpu_cfs_throttled_seconds_total: counter('Seconds for which the CPU quota throttled the container'),
  container_cpu_system_seconds_total: counter('Seconds of CPU time used in the kernel'),
  container_cpu_usage_seconds_total: counter('Seconds of CPU time used', 'cpu'),
  container_cpu_user_seconds_total: counter('Seconds of CPU time used in user space'),
  container_file_descriptors: gauge('Open file descriptors of all processes'),
  container_fs_inodes_free: gauge('Free inodes of the file system that the container writes to', 'device'),
  container_fs_inodes_total: gauge('Inodes of the file system that the container writes to', 'device'),
  container_fs_limit_bytes: gauge('Size of the file system that the container writes to', 'device'),
  container_fs_reads_bytes_total: counter('Bytes read from a block device', 'device'),
  container_fs_reads_total: counter('Reads from a block device', 'device'),
  container_fs_usage_bytes: gauge('Bytes that the container has written over its image', 'device'),
  container_fs_writes_bytes_total: counter('Bytes written to a block device', 'device'),
  container_fs_writes_total: counter('Writes to a block device', 'device'),
  container_hugetlb_max_usage_bytes: gauge('Maximum bytes of huge pages used', 'pagesize'),
  container_hugetlb_usage_bytes: gauge('Bytes of huge pages in use', 'pagesize'),
  container_last_seen: gauge('Time when the container was last seen, in Unix seconds'),
  container_memory_cache: gauge('Bytes of file cache'),
  container_memory_failcnt: counter('How often memory usage hit the limit'),
  container_memory_failures_total: counter('Page faults, by kind', 'failure_type', 'scope'),
  container_memory_kernel_usage: gauge('Bytes of kernel memory allocated for the container'),
  container_memory_mapped_file: gauge('Bytes of files mapped into memory'),
  container_memory_max_usage_bytes: gauge('Maximum bytes of memory used'),
  container_memory_rss: gauge('Bytes of anonymous memory'),
  container_memory_swap: gauge('Bytes of swap in use'),
  container_memory_total_active_file_bytes: gauge('Bytes of file cache that were used recently'),
  container_memory_total_inactive_file_bytes: gauge('Bytes of file cache that can be reclaimed at once'),
  container_memory_usage_bytes: gauge('Bytes of memory in use, file cache included'),
  container_memory_working_set_bytes: gauge(
    'Bytes of memory in use, less the file cache that can be reclaimed at once',
  ),
  container_network_receive_bytes_total: counter('Bytes received', 'interface'),
  container_network_receive_errors_total: counter('Errors while receiving', 'interface'),
  container_network_receive_packets_dropped_total: counter('Packets dropped while receiving', 'interface'),
  container_network_receive_packets_total: counter('Packets received', 'interface'),
  container_network_transmit_bytes_total: counter('Bytes sent', 'interface'),
  container_network_transmit_errors_total: counter('Errors while sending', 'interface'),
  container_network_transmit_packets_dropped_total: counter('Packets dropped while sending', 'interface'),
  container_network_transmit_packets_total: counter('Packets sent', 'interface'),
  container_oom_events_total: counter('Processes that the OOM killer has killed'),
  container_pressure_cpu_stalled_seconds_total: counter('Seconds in which every task waited for a CPU'),
  container_pressure_cpu_waiting_seconds_total: counter('Seconds in which some task waited for a CPU'),
  container_pressure_io_stalled_seconds_total: counter('Seconds in which every task waited for input or output'),
  container_pressure_io_waiting_seconds_total: counter('Seconds in which some task waited for input or output'),
  container_pressure_memory_stalled_seconds_total: counter('Seconds in which every task waited for memory'),
  container_pressure_memory_waiting_seconds_total: counter('Seconds in which some task waited for memory'),
  container_processes: gauge('Processes in the container'),
  container_sockets: gauge('Open sockets of all processes'),
  container_spec_cpu_period: gauge('Period of the CPU quota, in microseconds'),
  container_spec_cpu_quota: gauge('Microseconds of CPU time in each period'),
  container_spec_cpu_shares: gauge('Weight of the container when CPUs are short'),
  container_spec_memory_limit_bytes: gauge('Memory limit in bytes, 0 for none'),
  container_spec_memory_reservation_limit_bytes: gauge('Memory reservation in bytes, 0 for none'),
  container_spec_memory_swap_limit_bytes: gauge('Limit of memory and swap together in bytes, 0 for none'),
  container_start_time_seconds: gauge('Start time of the container, in Unix seconds'),
  container_threads: gauge('Threads in the container'),
  container_threads_max: gauge('Maximum number of threads in the container, 0 for no limit'),
  container_ulimits_soft: gauge('Soft limits of the container’s first process', 'ulimit'),
};

export type MetricName = keyof typeof METRICS;

/** A measured value. Omitted from the response if `value` is undefined. */
export type Sample = {
  name: MetricName;
  value: number | undefined;
  /** Values of the metric's labels beyond the base labels. */
  labels?: string[];
  /** When a cached value was measured; undefined for a live value. */
  atMs?: number;
};

/** ListMetricDescriptors: returns the names, help texts and labels of all metrics in ListPodSandboxMetrics. */
export function metricDescriptorList(): RuntimeHandlers['listMetricDescriptors'] {
  const descriptors: MessageInitShape<typeof MetricDescriptorSchema>[] = Object.entries(METRICS).map(
    ([name, { help, labels }]) => ({ name, help, labelKeys: [...BASE_LABELS, ...labels] }),
  );
  return async () => ({ descriptors });
}

/** Converts samples to CRI messages. The CRI has only integer values, so fractions of seconds are truncated, as in other runtimes. */
export function criMetrics(baseLabels: string[], samples: Sample[]): MessageInitShape<typeof MetricSchema>[] {
  return samples.flatMap(({ name, value, labels = [], atMs }) =>
    value === undefined
      ? []
      : {
          name,
          timestamp: atMs === undefined ? 0n : toNanoseconds(atMs),
          metricType: METRICS[name].type,
          labelValues: [...baseLabels, ...labels],
          value: { value: BigInt(Math.max(0, Math.floor(value))) },
        },
  );
}
