/** UpdateContainerResources on any CRI runtime: the kernel enforces the requested limits. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { type CgroupHierarchy, discoverCgroups, treeOf } from '@podwright/host';
import { readCgroupOf } from '../fixtures/process-cgroup.ts';
import { createIn, type Pod, runPod, startIn, untilExited } from './pods.fixture.ts';
import type { RuntimeToCompare } from './runtimes.fixture.ts';

const MEGABYTE = 1n << 20n;

/** A process's limits as reported by the kernel, in cgroup v1 units. */
type Limits = { shares: number; quota: string; period: string; cpus: string; memory: string };

export function limitsSuite(name: string, open: () => Promise<RuntimeToCompare>): void {
  suite(`limits of containers of ${name}`, { timeout: 120_000 }, () => {
    let runtime: RuntimeToCompare;
    let pod: Pod;
    let cgroups: CgroupHierarchy;
    before(async () => {
      [runtime, cgroups] = [await open(), await discoverCgroups()];
      pod = await runPod(runtime, 'limits');
    });
    after(() => runtime?.end());

    const script = 'exec sleep 1000';
    const linux = (resources: object) => ({ linux: { resources } });
    const first = { cpuPeriod: 100_000n, cpuQuota: 50_000n, cpuShares: 512n, memoryLimitInBytes: 64n * MEGABYTE };
    const asked = (containerId: string, resources: object) =>
      runtime.cri.runtime.updateContainerResources({ containerId, linux: resources });
    const limits = async (containerId: string) => limitsOf(cgroups, await pidOf(runtime, containerId));

    test('limits of a running container are changed, one by one and together', async () => {
      const containerId = await startIn(runtime, pod, { name: 'running', script, ...linux(first) });
      const memory = (count: bigint) => String(count * MEGABYTE);
      const before = await limits(containerId);
      assert.deepEqual(
        [before.shares, before.quota, before.period, before.memory],
        [512, '50000', '100000', memory(64n)],
      );
      await asked(containerId, { cpuShares: 1024n });
      await asked(containerId, { cpuQuota: 20_000n });
      await asked(containerId, { memoryLimitInBytes: 128n * MEGABYTE });
      assert.deepEqual(await limits(containerId), { ...before, shares: 1024, quota: '20000', memory: memory(128n) });
      await asked(containerId, { memoryLimitInBytes: 32n * MEGABYTE, cpuPeriod: 50_000n, cpuQuota: 25_000n });
      const expected = { ...before, shares: 1024, quota: '25000', period: '50000', memory: memory(32n) };
      assert.deepEqual(await limits(containerId), expected);
      await asked(containerId, { cpusetCpus: '0' });
      assert.deepEqual(await limits(containerId), { ...expected, cpus: '0' });
      await asked(containerId, {});
      assert.deepEqual(await limits(containerId), { ...expected, cpus: '0' }, 'an empty request changes nothing');
      await asked(containerId, { cpuQuota: -1n });
      await asked(containerId, { memoryLimitInBytes: -1n });
      await asked(containerId, { cpuShares: 100n });
      const { shares, quota, memory: limit } = await limits(containerId);
      assert.deepEqual([shares, quota], [100, '-1'], 'removed limits stay removed');
      assert.ok(limit === 'max' || Number(limit) > 2 ** 60, limit);
    });

    test('limits that are changed before the start are in force from the start on', async () => {
      const containerId = await createIn(runtime, pod, { name: 'created', script, ...linux(first) });
      await asked(containerId, { cpuShares: 256n, memoryLimitInBytes: 48n * MEGABYTE });
      await runtime.cri.runtime.startContainer({ containerId });
      const { shares, quota, memory } = await limits(containerId);
      assert.deepEqual([shares, quota, memory], [256, '50000', String(48n * MEGABYTE)]);
    });

    test('a container without a quota can get one', async () => {
      const resources = { cpuQuota: -1n, memoryLimitInBytes: -1n };
      const containerId = await startIn(runtime, pod, { name: 'unlimited', script, ...linux(resources) });
      assert.equal((await limits(containerId)).quota, '-1');
      await asked(containerId, { cpuQuota: 30_000n });
      assert.equal((await limits(containerId)).quota, '30000');
    });

    test('a container that exceeds its memory limit has the reason OOMKilled', async () => {
      const hungry = 'exec dd if=/dev/zero of=/dev/null bs=100M';
      const containerId = await startIn(runtime, pod, { name: 'hungry', script: hungry, ...linux(first) });
      await untilExited(runtime, containerId);
      const { status } = await runtime.cri.runtime.containerStatus({ containerId });
      assert.deepEqual([status?.reason, status?.exitCode], ['OOMKilled', 137]);
    });

    test('a limit that the kernel refuses changes nothing', async () => {
      const containerId = await startIn(runtime, pod, { name: 'refused', script, ...linux(first) });
      const before = await limits(containerId);
      await assert.rejects(asked(containerId, { cpusetCpus: '4000' }));
      await assert.rejects(asked(containerId, { cpuQuota: 1n }));
      assert.deepEqual(await limits(containerId), before);
      await asked(containerId, { cpuShares: 2048n });
      assert.deepEqual(
        await limits(containerId),
        { ...before, shares: 2048 },
        'a refused limit is not applied again later',
      );
    });
  });
}

async function pidOf({ cri }: RuntimeToCompare, containerId: string): Promise<number> {
  const { info } = await cri.runtime.containerStatus({ containerId, verbose: true });
  return (JSON.parse(info.info!) as { pid: number }).pid;
}

/**
 * Returns the CPU shares that correspond to a cgroup v2 weight. Older OCI runtimes convert linearly; runc 1.3.2 and crun 1.23 or later map
 * the defaults (1024 shares, weight 100) to each other.
 */
function sharesOf(weight: number): number {
  const linear = (shares: number) => Math.floor(1 + ((shares - 2) * 9999) / 262_142);
  const curved = (shares: number) =>
    Math.ceil(10 ** ((Math.log2(shares) ** 2 + 125 * Math.log2(shares)) / 612 - 7 / 34));
  return [100, 256, 512, 1024, 2048].find((shares) => [linear(shares), curved(shares)].includes(weight)) ?? -1;
}

/** Reads the limits of the process's cgroup, which is found by PID, whatever its path. */
async function limitsOf(cgroups: CgroupHierarchy, pid: number): Promise<Limits> {
  const read = (controller: string, file: string) => readCgroupOf(cgroups, pid, [controller, file]);
  const cpus = await read('cpuset', 'cpuset.cpus');
  if (treeOf(cgroups, 'cpu')!.version === 2) {
    const [quota, period] = (await read('cpu', 'cpu.max')).replace('max', '-1').split(' ') as [string, string];
    const weight = Number(await read('cpu', 'cpu.weight'));
    return { shares: sharesOf(weight), quota, period, cpus, memory: await read('memory', 'memory.max') };
  }
  return {
    shares: Number(await read('cpu', 'cpu.shares')),
    quota: await read('cpu', 'cpu.cfs_quota_us'),
    period: await read('cpu', 'cpu.cfs_period_us'),
    cpus,
    memory: await read('memory', 'memory.limit_in_bytes'),
  };
}
