/** The kubelet's cgroups of pods and of their classes, as the kernel has them: on cgroup v1 and v2. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import {
  type CgroupHierarchy,
  cgroupDirectory,
  cgroupExists,
  createCgroup,
  discoverCgroups,
  readCgroupFile,
  removeCgroup,
  setCgroupLimits,
  silentLogger,
  treeOf,
} from '../../packages/base/src/index.ts';
import type { Pod } from '../../packages/kubelet/src/api/types.ts';
import { openPodCgroups } from '../../packages/kubelet/src/cgroups/cgroupfs-pod-cgroups.ts';

const root = `/cgroup-test-${randomBytes(4).toString('hex')}`;
let cgroups: CgroupHierarchy;
before(async () => {
  cgroups = await discoverCgroups();
});
after(() => removeCgroup(cgroups, root));

function podOf(uid: string, resources: Pod['spec']['containers'][number]['resources']): Pod {
  const metadata = { name: uid, namespace: 'default', uid };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [{ name: 'a', image: 'i', resources }] } };
}

async function read(path: string, files: { controller: string; v1: string; v2: string }): Promise<string | undefined> {
  const tree = treeOf(cgroups, files.controller)!;
  return (await readCgroupFile(join(cgroupDirectory(tree, path), tree.version === 1 ? files.v1 : files.v2)))?.trim();
}

/** CPU shares on v1; the weights that they become on v2. */
async function assertShares(path: string, shares: number, weight: number): Promise<void> {
  const expected = treeOf(cgroups, 'cpu')?.version === 1 ? shares : weight;
  assert.equal(await read(path, { controller: 'cpu', v1: 'cpu.shares', v2: 'cpu.weight' }), String(expected), path);
}

test('pods get their limits, and a class the weight of all its pods, so that Guaranteed pods keep what they asked for', async () => {
  const pods = await openPodCgroups({ root, driver: 'cgroupfs', hierarchy: cgroups, limits: {}, logger: silentLogger });
  const [kubepods, burstable] = [join(root, 'kubepods'), join(root, 'kubepods', 'burstable')];
  await assertShares(join(kubepods, 'besteffort'), 2, 1);
  await assertShares(burstable, 2, 1);
  await pods.ensure(podOf('steady', { limits: { cpu: '500m', memory: '64Mi' } }));
  await pods.ensure(podOf('one', { requests: { cpu: '1' } }));
  await pods.ensure(podOf('two', { requests: { cpu: '500m' } }));
  await assertShares(burstable, 1536, 59);
  await assertShares(join(burstable, 'podone'), 1024, 39);
  await assertShares(join(kubepods, 'podsteady'), 512, 20);
  const quota = await read(join(kubepods, 'podsteady'), { controller: 'cpu', v1: 'cpu.cfs_quota_us', v2: 'cpu.max' });
  assert.equal(quota?.split(' ')[0], '50000');
  const memory = { controller: 'memory', v1: 'memory.limit_in_bytes', v2: 'memory.max' };
  assert.equal(await read(join(kubepods, 'podsteady'), memory), String(64 << 20));
  await pods.remove('one');
  await assertShares(burstable, 512, 20);
  await pods.removeOrphans(new Set());
  assert.ok(!(await cgroupExists(cgroups, join(burstable, 'podtwo'))));
  assert.ok(!(await cgroupExists(cgroups, join(kubepods, 'podsteady'))));
});

const MEMORY = { controller: 'memory', v1: 'memory.limit_in_bytes', v2: 'memory.max' };
const PIDS = { controller: 'pids', v1: 'pids.max', v2: 'pids.max' };

test('all pods together and each pod have the limits of the node, also below a cgroup that has less', async () => {
  const parent = join(root, 'small');
  await createCgroup(cgroups, parent);
  await setCgroupLimits(cgroups, parent, { memoryLimitBytes: 64 << 20, pidsLimit: 50 });
  const allPods = { memoryBytes: 512 << 20, pids: 1000 };
  const pods = await openPodCgroups({
    root: parent,
    driver: 'cgroupfs',
    hierarchy: cgroups,
    limits: { pidsPerPod: 100, allPods },
    logger: silentLogger,
  });
  const kubepods = join(parent, 'kubepods');
  assert.equal(await read(kubepods, MEMORY), String(512 << 20));
  assert.equal(await read(kubepods, PIDS), '1000');
  const pod = podOf('one', {});
  await pods.ensure(pod);
  assert.equal(await read(pods.parentFor(pod), PIDS), '100');
  assert.deepEqual(pods.enforced, { pidsPerPod: 100, allPods });
});

test('limits that are not wanted any more go at the next start', async () => {
  const open = (limits: Parameters<typeof openPodCgroups>[0]['limits']) =>
    openPodCgroups({ root, driver: 'cgroupfs', hierarchy: cgroups, limits, logger: silentLogger });
  const pod = podOf('freed', {});
  const first = await open({ pidsPerPod: 100, allPods: { memoryBytes: 512 << 20, pids: 1000 } });
  await first.ensure(pod);
  const second = await open({});
  await second.ensure(pod);
  assert.equal(await read(join(root, 'kubepods'), PIDS), 'max');
  assert.equal(await read(second.parentFor(pod), PIDS), 'max');
  const memory = await read(join(root, 'kubepods'), MEMORY);
  assert.ok(memory === 'max' || Number(memory) > 2 ** 60, memory);
});
