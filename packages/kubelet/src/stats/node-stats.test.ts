import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { CgroupHierarchy } from '@podwright/host';
import { CpuRates } from './cpu-rates.ts';
import { cgroupUse } from './node-stats.ts';

test('cgroup pressure and swap are read together with memory', (t) => {
  const mountPoint = mkdtempSync(join(tmpdir(), 'podwright-node-stats-'));
  t.after(() => rmSync(mountPoint, { recursive: true }));
  const files = {
    'cgroup.controllers': 'memory',
    'memory.current': '100',
    'memory.stat': 'anon 5',
    'memory.swap.current': '7',
    'memory.pressure': 'some avg10=1.50 avg60=0.20 avg300=0.01 total=9\n',
    'io.pressure': 'some avg10=0.00 avg60=0.00 avg300=0.00 total=1\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=2\n',
  };
  mkdirSync(join(mountPoint, 'pods'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(mountPoint, 'pods', name), text);
  const hierarchy: CgroupHierarchy = { mode: 'v2', trees: [{ version: 2, mountPoint, controllers: ['memory'] }] };
  const { memory, io, swap } = cgroupUse(hierarchy, { path: '/pods' }, new CpuRates());
  const zero = { total: 0, avg10: 0, avg60: 0, avg300: 0 };
  assert.deepEqual(memory?.psi, { full: zero, some: { total: 9, avg10: 1.5, avg60: 0.2, avg300: 0.01 } });
  assert.deepEqual([io?.psi?.some.total, io?.psi?.full.total, swap?.swapUsageBytes], [1, 2, 7]);
  assert.deepEqual(cgroupUse(undefined, { path: '/pods' }, new CpuRates()), {});
});
