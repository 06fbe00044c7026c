import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { ContainerStatsSchema, reportedLayerChanges } from '@podwright/cri';
import type { CgroupStats } from '@podwright/host';
import type { ContainerRecord } from '../../records/container-record.ts';
import type { SandboxRecord } from '../../records/sandbox-record.ts';
import type { ContainerUse } from '../../statistics/statistics.ts';
import { criContainerStats, criSandboxStats } from './statistics.ts';

const line = { avg10: 1.5, avg60: 0.5, avg300: 0.1, totalMicroseconds: 77 };
const memory = {
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
};
const cpu = {
  usageNanoseconds: 5000,
  userNanoseconds: 4000,
  systemNanoseconds: 1000,
  periods: 0,
  throttledPeriods: 0,
  throttledNanoseconds: 0,
};
const cgroup: CgroupStats = {
  readAtMs: 1_700_000_000_000,
  cpu,
  memory,
  processes: 3,
  threads: { current: 9, limit: undefined },
  pressure: { cpu: { some: line }, memory: { some: line, full: line }, io: { full: line } },
};
const use: ContainerUse = { cgroup, nanoCores: 250, layer: { sizeBytes: 4096, inodes: 4, atMs: 1_600_000_000_000 } };

const record = {
  id: 'c1',
  config: { name: 'main', attempt: 2, labels: { a: 'b' }, annotations: {} },
} as unknown as ContainerRecord;
const sandbox = {
  id: 's1',
  config: { podName: 'web', podUid: 'u', podNamespace: 'default', attempt: 0, labels: {}, annotations: {} },
} as unknown as SandboxRecord;

const psi = { Total: 77n, Avg10: 1.5, Avg60: 0.5, Avg300: 0.1 };
const eth0 = { name: 'eth0', rxBytes: 1, rxPackets: 2, rxErrors: 3, rxDropped: 0 };
const interfaces = [
  { ...eth0, name: 'net1', txBytes: 9, txPackets: 0, txErrors: 0, txDropped: 0 },
  { ...eth0, txBytes: 4, txPackets: 5, txErrors: 6, txDropped: 0 },
];

test('a container reports CPU, memory, swap, pressure and its layer, each with its own timestamp', () => {
  const stats = criContainerStats(record, use, '/var/lib/podwright');
  assert.deepEqual(stats, {
    attributes: { id: 'c1', metadata: { name: 'main', attempt: 2 }, labels: { a: 'b' }, annotations: {} },
    cpu: {
      timestamp: 1_700_000_000_000_000_000n,
      usageCoreNanoSeconds: { value: 5000n },
      usageNanoCores: { value: 250n },
      psi: { Some: psi, Full: undefined },
    },
    memory: {
      timestamp: 1_700_000_000_000_000_000n,
      workingSetBytes: { value: 700n },
      availableBytes: { value: 1300n },
      usageBytes: { value: 1000n },
      rssBytes: { value: 400n },
      pageFaults: { value: 80n },
      majorPageFaults: { value: 9n },
      psi: { Some: psi, Full: psi },
    },
    swap: {
      timestamp: 1_700_000_000_000_000_000n,
      swapUsageBytes: { value: 70n },
      swapAvailableBytes: { value: 430n },
    },
    io: { timestamp: 1_700_000_000_000_000_000n, psi: { Some: undefined, Full: psi } },
    writableLayer: {
      timestamp: 1_600_000_000_000_000_000n,
      fsId: { mountpoint: '/var/lib/podwright' },
      usedBytes: { value: 4096n },
      inodesUsed: { value: 4n },
    },
  });
});

test('a partially measured layer has no inode count', () => {
  const { writableLayer } = criContainerStats(record, { ...use, layer: { ...use.layer, isPartial: true } }, '/');
  assert.deepEqual([writableLayer?.usedBytes, writableLayer?.inodesUsed], [{ value: 4096n }, undefined]);
});

test('an annotation reports changes in the layer during its measurement, and the time of its last change', () => {
  const layer = { ...use.layer, changes: 'files', changedAtMs: 1_764_500_000_000.5 } as const;
  const { attributes } = create(ContainerStatsSchema, criContainerStats(record, { ...use, layer }, '/'));
  assert.equal(attributes?.annotations['podwright.dev/layer-changes'], 'files 1764500000001');
  assert.deepEqual(reportedLayerChanges({ attributes }), { changes: 'files', changedAtMs: 1_764_500_000_001 });
  const unknown = create(ContainerStatsSchema, criContainerStats(record, use, '/'));
  assert.equal(reportedLayerChanges(unknown), undefined);
});

test('available bytes are absent without a limit, and so are values that are not measured', () => {
  const unlimited = { ...memory, limitBytes: undefined, swapLimitBytes: undefined };
  const stats = criContainerStats(
    record,
    { ...use, cgroup: { readAtMs: 0, memory: unlimited }, nanoCores: undefined },
    '/',
  );
  assert.equal(stats.memory?.availableBytes, undefined);
  assert.equal(stats.swap?.swapAvailableBytes, undefined);
  assert.deepEqual([stats.cpu, stats.io, stats.memory?.psi], [undefined, undefined, undefined]);
});

test('a pod with its own cgroup reports that cgroup’s usage, and eth0 as the default interface', () => {
  const { linux } = criSandboxStats(sandbox, { atMs: 1, cgroup, nanoCores: 9, interfaces }, []);
  assert.equal(linux?.cpu?.usageNanoCores?.value, 9n);
  assert.equal(linux?.process?.processCount?.value, 3n);
  assert.deepEqual(linux?.io?.psi, { Some: undefined, Full: psi });
  assert.equal(linux?.network?.defaultInterface?.name, 'eth0');
  assert.equal(linux?.network?.defaultInterface?.txErrors?.value, 6n);
  assert.deepEqual(
    linux?.network?.interfaces?.map(({ name }) => name),
    ['net1'],
  );
});

test('a pod without its own cgroup reports the sum of its containers', () => {
  const none = { atMs: 1, cgroup: undefined, nanoCores: undefined, interfaces: [] };
  const idle = { ...use, cgroup: { readAtMs: 0 }, nanoCores: undefined };
  const containers = [use, use, idle].map((one) => ({ record, use: one, mountpoint: '/' }));
  const { linux } = criSandboxStats(sandbox, none, containers);
  assert.equal(linux?.cpu?.usageCoreNanoSeconds?.value, 10_000n);
  assert.equal(linux?.cpu?.usageNanoCores?.value, 500n);
  assert.equal(linux?.memory?.workingSetBytes?.value, 1400n);
  assert.equal(linux?.memory?.availableBytes, undefined, 'limits do not add up');
  assert.equal(linux?.process?.processCount?.value, 6n);
  assert.equal(linux?.containers?.length, 3);
  assert.deepEqual([linux?.cpu?.psi, linux?.io], [undefined, undefined], 'neither does pressure');
});
