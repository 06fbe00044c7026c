/** Statistics for containers, pods and image file systems on any CRI runtime. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { waitFor } from '@podwright/base';
import type { ContainerStats, PodSandboxStats } from '@podwright/cri';
import { createCgroup, discoverCgroups, removeCgroup } from '@podwright/host';
import { createIn, type Pod, podConfig, runPod, startIn } from './pods.fixture.ts';
import type { RuntimeToCompare } from './runtimes.fixture.ts';

const MEGABYTE = 1 << 20;
const patience = () => ({ intervalMs: 100, signal: AbortSignal.timeout(60_000) });

/** A script that keeps 20 MiB in memory, writes 3 MiB to its layer, periodically uses CPU time, and runs a second process. */
const busy = `sleep 1000 & dd if=/dev/zero of=/written bs=1M count=3 2>/dev/null
head -c ${20 * MEGABYTE} /dev/zero > /dev/shm/held; while :; do i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; sleep 0.05; done`;

export function statisticsSuite(name: string, open: () => Promise<RuntimeToCompare>): void {
  suite(`statistics of ${name}`, { timeout: 180_000 }, () => {
    let runtime: RuntimeToCompare;
    let pod: Pod;
    let containerId: string;
    const cgroupParent = `/pwt-stats-${name === 'our runtime' ? 'own' : 'cd'}-${process.pid}`;
    before(async () => {
      runtime = await open();
      const cgroups = await discoverCgroups();
      await createCgroup(cgroups, cgroupParent); // as the kubelet does
      const config = { ...podConfig(runtime, 'counted'), linux: { cgroupParent } };
      pod = { podSandboxId: (await runtime.cri.runtime.runPodSandbox({ config })).podSandboxId, config };
      const linux = { resources: { memoryLimitInBytes: BigInt(64 * MEGABYTE) } };
      containerId = await startIn(runtime, pod, { name: 'busy', script: busy, linux });
      await createIn(runtime, pod, { name: 'waiting', script: 'exec sleep 1000' });
      await runPod(runtime, 'idle');
    });
    after(async () => {
      await runtime?.end().finally(async () => removeCgroup(await discoverCgroups(), cgroupParent));
    });

    const ofContainer = async () => (await runtime.cri.runtime.containerStats({ containerId })).stats!;
    const value = (counter: { value: bigint } | undefined) => Number(counter?.value ?? -1);

    test("a container's statistics have its memory, its writable layer and its growing CPU time", async () => {
      const settled = async () => {
        const stats = await ofContainer();
        const [used, layer] = [value(stats.memory?.usageBytes), value(stats.writableLayer?.usedBytes)];
        return used > 20 * MEGABYTE && layer >= 3 * MEGABYTE ? stats : undefined;
      };
      const stats = await waitFor(settled, patience());
      assert.equal(stats.attributes?.id, containerId);
      assert.equal(stats.attributes?.metadata?.name, 'busy');
      assert.deepEqual(stats.attributes?.labels, { container: 'busy' });
      const [working, usage] = [value(stats.memory?.workingSetBytes), value(stats.memory?.usageBytes)];
      assert.ok(working > 0 && working <= usage && usage <= 64 * MEGABYTE, `${working} of ${usage}`);
      assert.ok(value(stats.memory?.rssBytes) >= 0 && value(stats.memory?.pageFaults) > 0);
      assert.ok(value(stats.writableLayer?.inodesUsed) > 0);
      assert.match(stats.writableLayer?.fsId?.mountpoint ?? '', /^\//);
      for (const timestamp of [stats.cpu?.timestamp, stats.memory?.timestamp, stats.writableLayer?.timestamp])
        assert.ok(Math.abs(Number(timestamp) / 1e6 - Date.now()) < 120_000, String(timestamp));
      const grown = async () => {
        const now = await ofContainer();
        const more = value(now.cpu?.usageCoreNanoSeconds) > value(stats.cpu?.usageCoreNanoSeconds);
        return more && value(now.cpu?.usageNanoCores) > 0 ? true : undefined;
      };
      await waitFor(grown, patience());
    });

    test('a list has the running containers, and can be filtered', async () => {
      const { cri } = runtime;
      const names = async (filter?: object) =>
        (await cri.runtime.listContainerStats({ filter })).stats.filter(isUsing).map(nameOf).sort();
      assert.deepEqual(await names(), ['busy']);
      assert.deepEqual(await names({ id: containerId.slice(0, 12) }), ['busy']);
      assert.deepEqual(await names({ podSandboxId: pod.podSandboxId }), ['busy']);
      assert.deepEqual(await names({ labelSelector: { container: 'busy' } }), ['busy']);
      assert.deepEqual(await names({ labelSelector: { container: 'other' } }), []);
      assert.deepEqual(await names({ id: 'f'.repeat(64) }), []);
    });

    test("a pod's statistics have its cgroup, its network, its processes and its containers", async () => {
      const { stats } = await runtime.cri.runtime.podSandboxStats({ podSandboxId: pod.podSandboxId });
      checkPod(stats!, value);
      assert.ok(value(stats?.linux?.memory?.usageBytes) > 20 * MEGABYTE);
      const listed = await runtime.cri.runtime.listPodSandboxStats({ filter: { labelSelector: { pod: 'counted' } } });
      assert.deepEqual(
        listed.stats.map(({ attributes }) => attributes?.metadata?.name),
        ['counted'],
      );
    });

    test('the image file system has a mount point and its usage', async () => {
      const { imageFilesystems } = await runtime.cri.image.imageFsInfo({});
      assert.equal(imageFilesystems.length, 1);
      const [one] = imageFilesystems;
      assert.match(one?.fsId?.mountpoint ?? '', /^\//);
      const used = async () => {
        const { imageFilesystems: now } = await runtime.cri.image.imageFsInfo({});
        return value(now[0]?.usedBytes) > 100_000 && value(now[0]?.inodesUsed) > 10 ? true : undefined;
      };
      await waitFor(used, patience());
    });
  });
}

function checkPod({ attributes, linux }: PodSandboxStats, value: (counter: { value: bigint } | undefined) => number) {
  assert.deepEqual(attributes?.metadata?.name, 'counted');
  assert.ok(value(linux?.cpu?.usageCoreNanoSeconds) > 0);
  assert.equal(linux?.network?.defaultInterface?.name, 'eth0');
  assert.ok(value(linux?.network?.defaultInterface?.rxBytes) >= 0);
  assert.ok(value(linux?.process?.processCount) >= 2);
  assert.deepEqual(linux?.containers.filter(isUsing).map(nameOf), ['busy']);
}

/** containerd 1.6 also lists containers that are not running, but without values. */
const isUsing = ({ memory }: ContainerStats) => memory !== undefined && (memory.usageBytes?.value ?? 0n) > 0n;
const nameOf = ({ attributes }: ContainerStats) => attributes!.metadata!.name;
