import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readContainerHost } from './container-host.ts';

/** A host with the given files; names that end with a slash are directories. */
async function hostOf(context: TestContext, files: Record<string, string>) {
  const scratch = await mkdtemp(join(tmpdir(), 'podwright-host-'));
  context.after(() => rm(scratch, { recursive: true }));
  const basic = {
    'proc/meminfo': 'MemTotal: 100 kB\nSwapTotal:       2048 kB\n',
    'proc/self/status': 'CapPrm:\t000001ffffffffff\nCapEff:\t000001ffffffffff\n',
    'proc/self/oom_score_adj': '-5\n',
  };
  for (const [name, content] of Object.entries({ ...basic, ...files })) {
    await mkdir(join(scratch, name.endsWith('/') ? name : join(name, '..')), { recursive: true });
    if (!name.endsWith('/')) await writeFile(join(scratch, name), content);
  }
  const places = { sysfs: join(scratch, 'sys'), proc: join(scratch, 'proc') };
  return readContainerHost({ hierarchy: undefined, allocatableMemory: 1n }, places);
}

test('a host without optional features is supported', async (context) => {
  const { memoryCapacity: _, ...host } = await hostOf(context, {});
  assert.deepEqual(host, {
    allocatableMemory: 1n,
    swapCapacity: 2n << 20n,
    cgroupV2: false,
    countsSwap: false,
    hugePageSizes: [],
    selinux: false,
    appArmor: false,
    throttleDirectories: [],
  });
});

test('huge page sizes are named like in cgroup files', async (context) => {
  const names = ['1048576', '2048', '64', '16777216'].map((size) => `sys/kernel/mm/hugepages/hugepages-${size}kB/`);
  const { hugePageSizes } = await hostOf(context, Object.fromEntries(names.map((name) => [name, ''])));
  assert.deepEqual(hugePageSizes.toSorted(), ['16GB', '1GB', '2MB', '64KB']);
});

test('the thermal_throttle directories of CPUs are masked', async (context) => {
  const cpu = (name: string) => [`sys/devices/system/cpu/${name}/`, ''] as const;
  const files = Object.fromEntries(
    ['cpu10/thermal_throttle', 'cpu2/thermal_throttle', 'cpu3', 'cpufreq/thermal_throttle'].map(cpu),
  );
  const { throttleDirectories } = await hostOf(context, { ...files, 'sys/fs/selinux/enforce': '0' });
  assert.deepEqual(throttleDirectories, [
    '/sys/devices/system/cpu/cpu2/thermal_throttle',
    '/sys/devices/system/cpu/cpu10/thermal_throttle',
  ]);
});

test('without CAP_SYS_RESOURCE the minimum OOM score adjustment is that of this process', async (context) => {
  const host = await hostOf(context, {
    'proc/self/status': 'CapEff:\t000001fffeffffff\n',
    'sys/fs/selinux/enforce': '1',
  });
  assert.equal(host.leastOomScoreAdj, -5n);
  assert.equal(host.selinux, true);
});
