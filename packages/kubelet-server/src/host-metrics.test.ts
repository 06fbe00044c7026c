import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exposition } from '@podwright/kubelet';
import { hostMetrics, joinFamilies } from './host-metrics.ts';

const time = new Date('2027-01-15T08:00:00.123Z');
const fs = { time, capacityBytes: 1000, usedBytes: 900, inodes: 10, inodesFree: 4 };
const data = (total: number) => ({ total, avg10: 0, avg60: 0, avg300: 0 });
const psi = { some: data(2_500_000), full: data(0) };
const LABELS = 'container="",id="/",image="",name="",namespace="",pod=""';

test('the host has the series of cAdvisor’s root container', () => {
  const cpu = { time, usageCoreNanoSeconds: 1.5e9, psi };
  const text = exposition(hostMetrics({ cpu, memory: { time, workingSetBytes: 7 }, io: { time, psi }, fs }));
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  assert.deepEqual(lines, [
    'container_cpu_usage_seconds_total{container="",cpu="total",id="/",image="",name="",namespace="",pod=""} 1.5',
    `container_fs_inodes_free{${LABELS}} 4`,
    `container_fs_inodes_total{${LABELS}} 10`,
    `container_fs_limit_bytes{${LABELS}} 1000`,
    `container_fs_usage_bytes{${LABELS}} 900`,
    `container_memory_working_set_bytes{${LABELS}} 7`,
    `container_pressure_cpu_stalled_seconds_total{${LABELS}} 0`,
    `container_pressure_cpu_waiting_seconds_total{${LABELS}} 2.5`,
    `container_pressure_io_stalled_seconds_total{${LABELS}} 0`,
    `container_pressure_io_waiting_seconds_total{${LABELS}} 2.5`,
  ]);
});

test('a page has each name once, with the samples of the host and of containers', () => {
  const name = 'container_fs_limit_bytes';
  const ofContainer = { name, help: 'Size', type: 'gauge' as const, samples: [{ labels: { id: '/c' }, value: 5 }] };
  const joined = joinFamilies([...hostMetrics({ fs }), ofContainer]);
  const text = exposition(joined);
  assert.equal(text.match(/^# TYPE container_fs_limit_bytes /gm)?.length, 1);
  assert.deepEqual(text.match(/^container_fs_limit_bytes.*$/gm), [`${name}{${LABELS}} 1000`, `${name}{id="/c"} 5`]);
});
