import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  create,
  LinuxPodSandboxStatsSchema,
  MetricType,
  type PodSandboxMetrics,
  PodSandboxMetricsSchema,
} from '@podwright/cri';
import type { Pod } from '@podwright/kube-api';
import type { RuntimeContainer, RuntimeSandbox } from '../kubecontainer/runtime-pod.ts';
import { familiesOf, summaryMetrics } from '../metrics/cadvisor-metrics.ts';
import { exposition } from '../metrics/exposition.ts';
import { coveredMs } from '../metrics/pod-start-times.ts';
import { resourceMetrics } from '../metrics/resource-metrics.ts';
import { volumeMetrics } from '../metrics/volume-metrics.ts';
import { CpuRates } from './cpu-rates.ts';
import { fullPodStats, type MeasuredPod, type PodDisk, podStatsByDisk } from './pod-stats.ts';
import { StatsTime } from './summary.ts';

const SECOND_NS = 1_000_000_000n;
const AT_NS = 1_800_000_000n * SECOND_NS + 123_000_000n;
const TIME = new StatsTime('2027-01-15T08:00:00.123Z');
const pod = { name: 'web', namespace: 'shop', uid: 'u' };

const value = (bytes: number) => ({ value: BigInt(bytes) });

/** CRI statistics of a container with the given usage. */
function container(id: string, name: string, used: { seconds: number; bytes: number }) {
  return {
    attributes: { id, metadata: { name, attempt: 0 } },
    cpu: { timestamp: AT_NS, usageCoreNanoSeconds: value(used.seconds * 1e9) },
    memory: { timestamp: AT_NS, workingSetBytes: value(used.bytes) },
    writableLayer: { timestamp: AT_NS, fsId: { mountpoint: '/layers' }, usedBytes: value(100), inodesUsed: value(3) },
  };
}

function measured(withPod: boolean): MeasuredPod {
  const containers = [
    container('c1', 'server', { seconds: 2, bytes: 10 }),
    container('c2', 'side', { seconds: 3, bytes: 20 }),
  ];
  const own = withPod ? { cpu: { timestamp: AT_NS, usageCoreNanoSeconds: value(6e9) } } : {};
  const runtimeContainers = containers.map(({ attributes: { id, metadata } }) => ({
    ...{ id, name: metadata.name, state: 'running', createdAtMs: TIME.getTime() },
  }));
  return {
    runtime: { pod, sandboxes: [], containers: runtimeContainers as RuntimeContainer[] },
    sandbox: { id: 's', createdAtMs: TIME.getTime() } as RuntimeSandbox,
    use: create(LinuxPodSandboxStatsSchema, { containers, ...own }),
    rates: new Map([['c1', 5]]),
  };
}

const disk: PodDisk = {
  root: { time: TIME, capacityBytes: 1000, usedBytes: 999 },
  layers: new Map([['/layers', { time: TIME, capacityBytes: 500 }]]),
  logs: new Map([['server', { bytes: 40, inodes: 1 }]]),
  others: { bytes: 5, inodes: 1 },
  held: { layers: { bytes: 2, inodes: 1 }, kubelet: { bytes: 4, inodes: 1 }, emptyDirs: new Map(), isPartial: false },
  volumes: [
    { name: 'data', time: TIME, usedBytes: 7, inodesUsed: 2 },
    { name: 'ram', time: TIME, usedBytes: 70, inodesUsed: 2 },
  ],
  pod: {
    spec: {
      volumes: [
        { name: 'data', emptyDir: {} },
        { name: 'ram', emptyDir: { medium: 'Memory' } },
      ],
    },
  } as Pod,
};

test('pod statistics are the sum over its containers, unless the runtime provides pod statistics', () => {
  const sums = (withPod: boolean) => {
    const { cpu, memory } = fullPodStats(measured(withPod), disk);
    return [cpu?.usageCoreNanoSeconds, cpu?.usageNanoCores, memory?.workingSetBytes];
  };
  assert.deepEqual(sums(false), [5e9, 5, 30]);
  assert.deepEqual(sums(true), [6e9, undefined, 30]);
});

test('layers, logs, other files, deleted files and volumes on disk count as ephemeral storage, in-memory volumes do not', () => {
  const stats = fullPodStats(measured(false), disk);
  assert.deepEqual([stats['ephemeral-storage']?.usedBytes, stats['ephemeral-storage']?.inodesUsed], [258, 12]);
  assert.deepEqual(stats.containers[0]!.rootfs, { time: TIME, capacityBytes: 500, usedBytes: 100, inodesUsed: 3 });
  assert.deepEqual(stats.containers[0]!.logs, { time: TIME, capacityBytes: 1000, usedBytes: 40, inodesUsed: 1 });
  assert.equal(stats.volume?.length, 2);
});

test('an exited container has no statistics, but its files count towards the pod', () => {
  const given = measured(false);
  given.runtime.containers[1]!.state = 'exited';
  const logs = new Map([...disk.logs, ['side', { bytes: 1000, inodes: 1 }]]);
  const { containers, disks } = podStatsByDisk(given, { ...disk, logs });
  assert.deepEqual(
    containers.map(({ name }) => name),
    ['server'],
  );
  const claims = { bytes: 0, inodes: 0 };
  assert.deepEqual(disks, { layers: { bytes: 202, inodes: 7 }, kubelet: { bytes: 1056, inodes: 6 }, claims });
});

test('claim volumes on the kubelet’s file system are not ephemeral storage, and are counted separately', () => {
  const root = { ...disk.root, capacityBytes: 1000, inodes: 50 };
  const use = { time: TIME, usedBytes: 300, inodesUsed: 9 };
  const volumes = [
    { ...use, name: 'here', capacityBytes: 1000, inodes: 50 },
    { ...use, name: 'here-too', capacityBytes: 1000, inodes: 50 },
    { ...use, name: 'elsewhere', capacityBytes: 2000, inodes: 50 },
    { ...use, name: 'host', capacityBytes: 1000, inodes: 50 },
  ];
  const claim = { persistentVolumeClaim: { claimName: 'a' } };
  const spec = {
    volumes: [
      { name: 'here', ...claim },
      { name: 'here-too', ephemeral: {} },
      { name: 'elsewhere', ...claim },
      { name: 'host', hostPath: { path: '/x' } },
    ],
  };
  const found = podStatsByDisk(measured(false), { ...disk, root, volumes, pod: { spec } as Pod });
  assert.deepEqual(found.disks.claims, { bytes: 600, inodes: 18 });
  assert.equal(found['ephemeral-storage']?.usedBytes, 251);
});

test('a pod is partial if a layer has no inode count or something was not measured', () => {
  const isPartial = (given: MeasuredPod, more: Partial<PodDisk> = {}) =>
    podStatsByDisk(given, { ...disk, ...more }).isPartial;
  assert.equal(isPartial(measured(true)), false);
  assert.equal(isPartial(measured(true), { isPartial: true }), true);
  const unknown = measured(true);
  delete unknown.use.containers[1]!.writableLayer!.inodesUsed;
  assert.equal(isPartial(unknown), true);
  assert.equal(podStatsByDisk(unknown, disk).disks.layers.bytes, 202, 'counted files still count');
});

test('CPU rates are computed between samples at least half a second apart', () => {
  const rates = new CpuRates();
  const sample = (usedMs: bigint, atMs: bigint) => rates.rate('c', usedMs * 1_000_000n, atMs * 1_000_000n);
  assert.equal(sample(0n, 0n), undefined);
  assert.equal(sample(100n, 100n), undefined, 'too soon');
  assert.equal(sample(500n, 1000n), 5e8);
  assert.equal(sample(600n, 1100n), 545_454_545, 'still against the sample before');
  assert.equal(sample(500n + 1000n, 2000n), 1e9);
  assert.equal(sample(0n, 3000n), undefined, 'a counter that was reset');
  assert.equal(sample(500n, 1000n), undefined, 'a clock that was set back');
  assert.equal(sample(1000n, 2000n), 5e8);
  rates.keep(new Set());
  assert.equal(sample(9000n, 9000n), undefined);
});

test('resource metrics have the same names, labels, order and timestamps as upstream', () => {
  const node = { nodeName: 'n', startTime: TIME, cpu: { time: TIME, usageCoreNanoSeconds: 7e9 } };
  const summary = { node, pods: [fullPodStats(measured(false), disk)] };
  const lines = exposition(resourceMetrics(summary)).split('\n');
  const [server, side] = ['server', 'side'].map((name) => `{container="${name}",namespace="shop",pod="web"}`);
  const web = '{namespace="shop",pod="web"}';
  assert.deepEqual(
    lines.filter((line) => line !== '' && !line.startsWith('# HELP')),
    [
      '# TYPE container_cpu_usage_seconds_total counter',
      `container_cpu_usage_seconds_total${server} 2 1800000000123`,
      `container_cpu_usage_seconds_total${side} 3 1800000000123`,
      '# TYPE container_memory_working_set_bytes gauge',
      `container_memory_working_set_bytes${server} 10 1800000000123`,
      `container_memory_working_set_bytes${side} 20 1800000000123`,
      '# TYPE container_start_time_seconds gauge',
      `container_start_time_seconds${server} 1800000000.123`,
      `container_start_time_seconds${side} 1800000000.123`,
      '# TYPE node_cpu_usage_seconds_total counter',
      'node_cpu_usage_seconds_total 7 1800000000123',
      '# TYPE pod_cpu_usage_seconds_total counter',
      `pod_cpu_usage_seconds_total${web} 5 1800000000123`,
      '# TYPE pod_memory_working_set_bytes gauge',
      `pod_memory_working_set_bytes${web} 30 1800000000123`,
      '# TYPE resource_scrape_error gauge',
      'resource_scrape_error 0',
    ],
  );
  assert.equal(
    JSON.parse(JSON.stringify(summary)).node.cpu.time,
    '2027-01-15T08:00:00Z',
    'the summary has whole seconds',
  );
  assert.match(exposition(resourceMetrics(undefined)), /^resource_scrape_error 1$/m);
});

test('runtime metrics use the names and labels of their descriptors, and metrics without a descriptor are skipped', () => {
  const metric = (name: string, labelValues: string[]) => ({
    name,
    labelValues,
    metricType: MetricType.GAUGE,
    value: value(4),
  });
  const podMetrics: PodSandboxMetrics = create(PodSandboxMetricsSchema, {
    metrics: [metric('known', ['a"b']), metric('unknown', []), metric('known', ['too', 'many'])],
  });
  const text = exposition(familiesOf([{ name: 'known', help: 'Help\nme', labelKeys: ['x'] }], [podMetrics]));
  assert.equal(text, '# HELP known Help\\nme\n# TYPE known gauge\nknown{x="a\\"b"} 4\n');
  const summary = { node: { nodeName: 'n', startTime: TIME }, pods: [fullPodStats(measured(false), disk)] };
  assert.match(exposition(summaryMetrics(summary)), /^container_fs_usage_bytes\{container="side",.*\} 100$/m);
});

test('overlapping intervals count once', () => {
  const at = (startMs: number, endMs: number) => ({ startMs, endMs });
  assert.equal(coveredMs([]), 0);
  assert.equal(coveredMs([at(5, 9), at(0, 3), at(2, 6), at(20, 21)]), 10);
});

test('claim volumes are gauges with upstream’s names, one per claim; other volumes are skipped', () => {
  const pvcRef = { namespace: 'shop', name: 'data' };
  const sizes = { capacityBytes: 100, availableBytes: 60, usedBytes: 7, inodes: 10, inodesFree: 8, inodesUsed: 2 };
  const text = exposition(
    volumeMetrics([
      { name: 'scratch', time: TIME, ...sizes },
      { name: 'a', time: TIME, ...sizes, pvcRef },
      { name: 'b', time: TIME, ...sizes, usedBytes: 8, pvcRef },
      { name: 'c', time: TIME, usedBytes: 9, pvcRef: { namespace: 'team', name: 'data' } },
    ]),
  );
  const values = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const labels = '{namespace="shop",persistentvolumeclaim="data"}';
  assert.deepEqual(values, [
    `kubelet_volume_stats_available_bytes${labels} 60`,
    `kubelet_volume_stats_capacity_bytes${labels} 100`,
    `kubelet_volume_stats_inodes${labels} 10`,
    `kubelet_volume_stats_inodes_free${labels} 8`,
    `kubelet_volume_stats_inodes_used${labels} 2`,
    `kubelet_volume_stats_used_bytes${labels} 7`,
    'kubelet_volume_stats_used_bytes{namespace="team",persistentvolumeclaim="data"} 9',
  ]);
  assert.equal(exposition(volumeMetrics([])), '');
});
