import type { CgroupPressure, CgroupStats, CpuStats, InterfaceUse, MemoryStats } from '@podwright/host';
import type { ContainerRecord, ContainerResources } from '../../records/container-record.ts';
import type { ContainerDetails } from '../../statistics/statistics.ts';
import type { Sample } from './metric-descriptors.ts';

const NANOSECONDS = 1e9;
const MICROSECONDS = 1e6;
/** Kernel defaults for the CPU period (sched-bwc.rst) and for CPU shares (cgroup v1's cpu.shares). */
const DEFAULT_CPU_PERIOD_US = 100_000;
const DEFAULT_CPU_SHARES = 1024;

/** Returns all metric samples of a running container. */
export function containerSamples(record: ContainerRecord, details: ContainerDetails): Sample[] {
  const startedAtMs = record.state.phase === 'running' ? record.state.startedAtMs : undefined;
  return [
    { name: 'container_last_seen', value: details.cgroup.readAtMs / 1000 },
    { name: 'container_start_time_seconds', value: startedAtMs && startedAtMs / 1000 },
    ...cgroupSamples(details.cgroup),
    ...deviceSamples(details),
    ...filesystemSamples(details),
    ...processSamples(details),
    ...limitSamples(record.config.resources),
  ];
}

/** Returns the metric samples of a container's or pod's cgroup. */
export function cgroupSamples({ cpu, memory, hugepages = {}, pressure }: CgroupStats): Sample[] {
  return [
    ...(cpu === undefined ? [] : cpuSamples(cpu)),
    ...(memory === undefined ? [] : memorySamples(memory)),
    ...Object.entries(hugepages).flatMap(([size, { usageBytes, peakBytes }]): Sample[] => [
      { name: 'container_hugetlb_usage_bytes', value: usageBytes, labels: [size] },
      { name: 'container_hugetlb_max_usage_bytes', value: peakBytes, labels: [size] },
    ]),
    ...(pressure === undefined ? [] : pressureSamples(pressure)),
  ];
}

/** Returns the metric samples of a pod's network interfaces. */
export function interfaceSamples(interfaces: InterfaceUse[]): Sample[] {
  return interfaces.flatMap((one): Sample[] => {
    const labels = [one.name];
    return [
      { name: 'container_network_receive_bytes_total', value: one.rxBytes, labels },
      { name: 'container_network_receive_packets_total', value: one.rxPackets, labels },
      { name: 'container_network_receive_packets_dropped_total', value: one.rxDropped, labels },
      { name: 'container_network_receive_errors_total', value: one.rxErrors, labels },
      { name: 'container_network_transmit_bytes_total', value: one.txBytes, labels },
      { name: 'container_network_transmit_packets_total', value: one.txPackets, labels },
      { name: 'container_network_transmit_packets_dropped_total', value: one.txDropped, labels },
      { name: 'container_network_transmit_errors_total', value: one.txErrors, labels },
    ];
  });
}

function cpuSamples(cpu: CpuStats): Sample[] {
  return [
    { name: 'container_cpu_usage_seconds_total', value: cpu.usageNanoseconds / NANOSECONDS, labels: ['total'] },
    { name: 'container_cpu_user_seconds_total', value: cpu.userNanoseconds / NANOSECONDS },
    { name: 'container_cpu_system_seconds_total', value: cpu.systemNanoseconds / NANOSECONDS },
    { name: 'container_cpu_cfs_periods_total', value: cpu.periods },
    { name: 'container_cpu_cfs_throttled_periods_total', value: cpu.throttledPeriods },
    { name: 'container_cpu_cfs_throttled_seconds_total', value: cpu.throttledNanoseconds / NANOSECONDS },
  ];
}

/**
 * Returns a cgroup's memory samples. A cgroup's page faults include those of its children, so the scopes `container` and `hierarchy` report
 * the same value.
 */
function memorySamples(memory: MemoryStats): Sample[] {
  const faults = (kind: string, value: number): Sample[] =>
    ['container', 'hierarchy'].map((scope) => ({
      name: 'container_memory_failures_total',
      value,
      labels: [kind, scope],
    }));
  return [
    { name: 'container_memory_usage_bytes', value: memory.usageBytes },
    { name: 'container_memory_working_set_bytes', value: memory.workingSetBytes },
    // cgroup v2 has no peak before Linux 5.19, so report the current usage
    { name: 'container_memory_max_usage_bytes', value: memory.peakBytes ?? memory.usageBytes },
    { name: 'container_memory_rss', value: memory.rssBytes },
    { name: 'container_memory_cache', value: memory.cacheBytes },
    { name: 'container_memory_mapped_file', value: memory.mappedFileBytes },
    { name: 'container_memory_total_active_file_bytes', value: memory.activeFileBytes },
    { name: 'container_memory_total_inactive_file_bytes', value: memory.inactiveFileBytes },
    { name: 'container_memory_kernel_usage', value: memory.kernelBytes },
    { name: 'container_memory_swap', value: memory.swapBytes },
    { name: 'container_memory_failcnt', value: memory.limitHits },
    { name: 'container_oom_events_total', value: memory.oomKills },
    ...faults('pgfault', memory.pageFaults),
    ...faults('pgmajfault', memory.majorPageFaults),
  ];
}

function pressureSamples(pressure: CgroupPressure): Sample[] {
  return (['cpu', 'memory', 'io'] as const).flatMap((resource): Sample[] => {
    const seconds = (kind: 'some' | 'full') => {
      const micros = pressure[resource]?.[kind]?.totalMicroseconds;
      return micros === undefined ? undefined : micros / MICROSECONDS;
    };
    return [
      { name: `container_pressure_${resource}_waiting_seconds_total`, value: seconds('some') },
      { name: `container_pressure_${resource}_stalled_seconds_total`, value: seconds('full') },
    ];
  });
}

function deviceSamples({ devices }: ContainerDetails): Sample[] {
  return devices.flatMap(({ name, major, minor, ...io }): Sample[] => {
    const operation = (kind: string) => [name, String(major), String(minor), kind];
    return [
      { name: 'container_fs_reads_bytes_total', value: io.readBytes, labels: [name] },
      { name: 'container_fs_reads_total', value: io.reads, labels: [name] },
      { name: 'container_fs_writes_bytes_total', value: io.writeBytes, labels: [name] },
      { name: 'container_fs_writes_total', value: io.writes, labels: [name] },
      { name: 'container_blkio_device_usage_total', value: io.readBytes, labels: operation('Read') },
      { name: 'container_blkio_device_usage_total', value: io.writeBytes, labels: operation('Write') },
    ];
  });
}

function filesystemSamples({ layer, filesystem }: ContainerDetails): Sample[] {
  const labels = [filesystem.device];
  return [
    { name: 'container_fs_usage_bytes', value: layer.sizeBytes, labels, atMs: layer.atMs },
    { name: 'container_fs_limit_bytes', value: filesystem.sizeBytes, labels },
    { name: 'container_fs_inodes_total', value: filesystem.inodes, labels },
    { name: 'container_fs_inodes_free', value: filesystem.freeInodes, labels },
  ];
}

function processSamples({ cgroup, processes }: ContainerDetails): Sample[] {
  const { threads } = cgroup;
  return [
    { name: 'container_processes', value: cgroup.processes },
    { name: 'container_threads', value: threads?.current },
    { name: 'container_threads_max', value: threads && (threads.limit ?? 0) },
    { name: 'container_file_descriptors', value: processes.files },
    { name: 'container_sockets', value: processes.sockets },
    { name: 'container_ulimits_soft', value: processes.maxFiles, labels: ['max_open_files'] },
  ];
}

/** Samples of the requested limits. As in cAdvisor, 0 means unlimited. */
function limitSamples(resources: ContainerResources): Sample[] {
  const limit = (bytes: number) => Math.max(0, bytes);
  const { cpuQuota, memoryLimitBytes, memorySwapLimitBytes } = resources;
  return [
    { name: 'container_spec_cpu_period', value: resources.cpuPeriod || DEFAULT_CPU_PERIOD_US },
    { name: 'container_spec_cpu_quota', value: cpuQuota > 0 ? cpuQuota : undefined },
    { name: 'container_spec_cpu_shares', value: resources.cpuShares || DEFAULT_CPU_SHARES },
    { name: 'container_spec_memory_limit_bytes', value: limit(memoryLimitBytes) },
    { name: 'container_spec_memory_swap_limit_bytes', value: limit(memorySwapLimitBytes) },
    { name: 'container_spec_memory_reservation_limit_bytes', value: Number(resources.unified['memory.min'] ?? 0) || 0 },
  ];
}
