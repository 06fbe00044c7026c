import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerRecord } from '../../records/container-record.ts';
import type { ContainerDetails } from '../../statistics/statistics.ts';
import { BASE_LABELS, criMetrics, metricDescriptorList, type Sample } from './metric-descriptors.ts';
import { containerSamples, interfaceSamples } from './metric-samples.ts';

const pressure = { avg10: 0, avg60: 0, avg300: 0, totalMicroseconds: 2_700_000 };
const stall = { some: pressure, full: { ...pressure, totalMicroseconds: 1_200_000 } };

const details: ContainerDetails = {
  cgroup: {
    readAtMs: 1_700_000_000_900,
    cpu: {
      usageNanoseconds: 5_900_000_000,
      userNanoseconds: 4_000_000_000,
      systemNanoseconds: 1_900_000_000,
      periods: 100,
      throttledPeriods: 20,
      throttledNanoseconds: 3_000_000_000,
    },
    memory: {
      usageBytes: 1000,
      peakBytes: 1100,
      workingSetBytes: 700,
      rssBytes: 400,
      cacheBytes: 500,
      mappedFileBytes: 50,
      activeFileBytes: 200,
      inactiveFileBytes: 300,
      kernelBytes: 60,
      swapBytes: 70,
      limitBytes: 2000,
      swapLimitBytes: 500,
      limitHits: 2,
      oomKills: 1,
      pageFaults: 80,
      majorPageFaults: 9,
    },
    threads: { current: 7, limit: undefined },
    processes: 3,
    hugepages: { '2MB': { usageBytes: 10, peakBytes: 20 } },
    pressure: { cpu: stall, memory: stall, io: stall },
  },
  nanoCores: 1,
  layer: { sizeBytes: 4096, inodes: 4, atMs: 1_700_000_000_000 },
  cgroupPath: '/kubepods/pod7/c',
  processes: { files: 30, sockets: 4, maxFiles: 1024 },
  filesystem: { device: '/dev/sda1', sizeBytes: 10_000, inodes: 1000, freeInodes: 900 },
  devices: [{ name: '/dev/sda', major: 8, minor: 0, readBytes: 1, writeBytes: 2, reads: 3, writes: 4 }],
};

const record = {
  state: { phase: 'running', pid: 7, startedAtMs: 1_600_000_000_500 },
  config: {
    resources: {
      cpuPeriod: 0,
      cpuQuota: 50_000,
      cpuShares: 512,
      memoryLimitBytes: 2000,
      memorySwapLimitBytes: -1,
      unified: { 'memory.min': '100' },
    },
  },
} as unknown as ContainerRecord;

const eth0 = { name: 'eth0', rxBytes: 1, rxPackets: 2, rxErrors: 3, rxDropped: 4 };
const interfaces = [{ ...eth0, txBytes: 5, txPackets: 6, txErrors: 7, txDropped: 8 }];
const all: Sample[] = [...containerSamples(record, details), ...interfaceSamples(interfaces)];

async function descriptors() {
  const call = metricDescriptorList() as () => Promise<{ descriptors: { name: string; labelKeys: string[] }[] }>;
  return new Map((await call()).descriptors.map(({ name, labelKeys }) => [name, labelKeys]));
}

test('all described metrics are measured, with a value for each label', async () => {
  const described = await descriptors();
  const measured = criMetrics(
    BASE_LABELS.map((key) => `the ${key}`),
    all,
  );
  assert.deepEqual([...new Set(measured.map(({ name }) => name))].sort(), [...described.keys()].sort());
  for (const { name, labelValues } of measured) {
    assert.equal(labelValues?.length, described.get(name!)?.length, name);
    assert.equal(labelValues?.[0], 'the container');
  }
});

test('metrics have cAdvisor’s names, labels and units', async () => {
  const text = (metrics: ReturnType<typeof criMetrics>) =>
    metrics.map(({ name, labelValues, value }) => `${name}{${labelValues?.join()}} ${value?.value}`);
  const measured = new Set(text(criMetrics([], all)));
  const expected = [
    'container_cpu_usage_seconds_total{total} 5',
    'container_cpu_cfs_throttled_seconds_total{} 3',
    'container_memory_working_set_bytes{} 700',
    'container_memory_failures_total{pgmajfault,container} 9',
    'container_memory_failures_total{pgmajfault,hierarchy} 9',
    'container_network_receive_bytes_total{eth0} 1',
    'container_network_transmit_packets_dropped_total{eth0} 8',
    'container_fs_writes_bytes_total{/dev/sda} 2',
    'container_blkio_device_usage_total{/dev/sda,8,0,Write} 2',
    'container_fs_usage_bytes{/dev/sda1} 4096',
    'container_fs_inodes_free{/dev/sda1} 900',
    'container_hugetlb_max_usage_bytes{2MB} 20',
    'container_pressure_io_waiting_seconds_total{} 2',
    'container_pressure_io_stalled_seconds_total{} 1',
    'container_oom_events_total{} 1',
    'container_processes{} 3',
    'container_threads{} 7',
    'container_threads_max{} 0',
    'container_ulimits_soft{max_open_files} 1024',
    'container_last_seen{} 1700000000',
    'container_start_time_seconds{} 1600000000',
    'container_spec_cpu_period{} 100000',
    'container_spec_cpu_quota{} 50000',
    'container_spec_memory_swap_limit_bytes{} 0',
    'container_spec_memory_reservation_limit_bytes{} 100',
  ];
  assert.deepEqual(
    expected.filter((line) => !measured.has(line)),
    [],
  );
});

test('cached values have a timestamp, live ones do not', () => {
  const timestamps = criMetrics([], all).map(({ name, timestamp }) => [name, timestamp] as const);
  const earlier = timestamps.filter(([, timestamp]) => timestamp !== 0n);
  assert.deepEqual(earlier, [['container_fs_usage_bytes', 1_700_000_000_000_000_000n]]);
});

test('metrics not provided by the host are omitted', () => {
  const cgroup = { readAtMs: 0 };
  const names = criMetrics([], containerSamples(record, { ...details, cgroup, devices: [] })).map(({ name }) => name);
  assert.ok(!names.some((name) => /memory_usage|cpu_usage|pressure|hugetlb|processes|reads/.test(name!)));
  assert.ok(names.includes('container_fs_usage_bytes'));
});
