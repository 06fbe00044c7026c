/** The kubelet's cgroups for pods and QoS classes, as reported by the kernel, on cgroup v1 and v2. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import {
  type CgroupHierarchy,
  cgroupDirectory,
  cgroupExists,
  createCgroup,
  discoverCgroups,
  isFrozenCgroup,
  readCgroupFile,
  removeCgroup,
  setCgroupLimits,
  treeOf,
} from '@podwright/host';
import type { Pod } from '../../packages/kube-api/src/objects/types.ts';
import type { KubeletCgroupsSettings } from '../../packages/kubelet/src/cgroups/kubelet-cgroups.ts';
import { openPodCgroups } from '../../packages/kubelet/src/cgroups/open-pod-cgroups.ts';
import { limitReservedCgroup } from '../../packages/kubelet/src/cgroups/reserved-cgroups.ts';
import { DEFAULT_RESOURCE_POLICY } from '../../packages/kubelet-configuration/src/options/resource-policy.ts';
import { freeze } from '../fixtures/freezer.ts';

const root = `/cgroup-test-${randomBytes(4).toString('hex')}`;
let cgroups: CgroupHierarchy;
before(async () => {
  cgroups = await discoverCgroups();
});
after(() => removeCgroup(cgroups, root));

/** Opens a kubelet's pod cgroups on this host. */
function open(context: TestContext, given: Partial<KubeletCgroupsSettings> & { parent?: string } = {}) {
  return openAt(context, given.parent ?? root, given);
}

async function openAt(context: TestContext, at: string, given: Partial<KubeletCgroupsSettings>) {
  const settings = { limits: {}, milliCpu: 4000n, policy: DEFAULT_RESOURCE_POLICY, hugePageSizes: [], ...given };
  const opened = await openPodCgroups({
    root: at,
    driver: 'cgroupfs',
    hierarchy: cgroups,
    settings,
    logger: silentLogger,
  });
  context.after(() => opened.close());
  return opened;
}

function podOf(uid: string, resources: Pod['spec']['containers'][number]['resources']): Pod {
  const metadata = { name: uid, namespace: 'default', uid };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [{ name: 'a', image: 'i', resources }] } };
}

async function read(path: string, files: { controller: string; v1: string; v2: string }): Promise<string | undefined> {
  const tree = treeOf(cgroups, files.controller)!;
  return (await readCgroupFile(join(cgroupDirectory(tree, path), tree.version === 1 ? files.v1 : files.v2)))?.trim();
}

/** Asserts the CPU shares on v1, or the equivalent weight on v2. */
async function assertShares(path: string, shares: number, weight: number): Promise<void> {
  const expected = treeOf(cgroups, 'cpu')?.version === 1 ? shares : weight;
  assert.equal(await read(path, { controller: 'cpu', v1: 'cpu.shares', v2: 'cpu.weight' }), String(expected), path);
}

test('pods get their limits, and a QoS class the weight of all its pods, so that Guaranteed pods keep their requests', async (context) => {
  const pods = await open(context);
  const [kubepods, burstable] = [join(root, 'kubepods'), join(root, 'kubepods', 'burstable')];
  await assertShares(kubepods, 4096, 157);
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

test('pods together and individually have the node’s limits, even under a cgroup with lower ones', async (context) => {
  const parent = join(root, 'small');
  await createCgroup(cgroups, parent);
  await setCgroupLimits(cgroups, parent, { memoryLimitBytes: 64 << 20, pidsLimit: 50 });
  const allPods = { memoryBytes: 512 << 20, pids: 1000 };
  const pods = await open(context, { parent, limits: { pidsPerPod: 100, allPods } });
  const kubepods = join(parent, 'kubepods');
  assert.equal(await read(kubepods, MEMORY), String(512 << 20));
  assert.equal(await read(kubepods, PIDS), '1000');
  const pod = podOf('one', {});
  await pods.ensure(pod);
  assert.equal(await read(pods.parentFor(pod), PIDS), '100');
  assert.deepEqual(pods.enforced, { pidsPerPod: 100, allPods });
});

test("a pod's overhead is added to its requests and limits, but a BestEffort pod has the minimum weight", async (context) => {
  const parent = join(root, 'overhead');
  const pods = await open(context, { parent });
  const withOverhead = (uid: string, resources: Parameters<typeof podOf>[1]): Pod => {
    const pod = podOf(uid, resources);
    return { ...pod, spec: { ...pod.spec, overhead: { cpu: '250m', memory: '32Mi' } } };
  };
  const limits = { cpu: '500m', memory: '64Mi' };
  const small = { cpu: '250m', memory: '32Mi' };
  const limitsOf = async (pod: Pod) => {
    const quota = await read(pods.parentFor(pod), { controller: 'cpu', v1: 'cpu.cfs_quota_us', v2: 'cpu.max' });
    const memory = await read(pods.parentFor(pod), MEMORY);
    const unlimited = memory === 'max' || Number(memory) > 2 ** 60;
    return [quota!.split(' ')[0]!.replace('max', '-1'), unlimited ? 'none' : memory];
  };
  for (const { pod, place, shares, weight, expected } of [
    { pod: withOverhead('whole', { limits }), place: '', shares: 768, weight: 30, expected: ['75000', `${96 << 20}`] },
    {
      pod: withOverhead('some', { limits, requests: small }),
      place: 'burstable',
      shares: 512,
      weight: 20,
      expected: ['75000', `${96 << 20}`],
    },
    {
      pod: withOverhead('open', { requests: small }),
      place: 'burstable',
      shares: 512,
      weight: 20,
      expected: ['-1', 'none'],
    },
    { pod: withOverhead('least', {}), place: 'besteffort', shares: 2, weight: 1, expected: ['-1', 'none'] },
  ]) {
    await pods.ensure(pod);
    assert.equal(pods.parentFor(pod), join(parent, 'kubepods', place, `pod${pod.metadata.uid}`));
    await assertShares(pods.parentFor(pod), shares, weight);
    assert.deepEqual(await limitsOf(pod), expected, pod.metadata.uid);
  }
  await assertShares(join(parent, 'kubepods', 'burstable'), 1024, 39);
});

test('limits no longer configured are removed at the next start', async (context) => {
  const pod = podOf('freed', {});
  const limits = { pidsPerPod: 100, allPods: { memoryBytes: 512 << 20, pids: 1000 } };
  const first = await open(context, { limits });
  await first.ensure(pod);
  const second = await open(context);
  await second.ensure(pod);
  assert.equal(await read(join(root, 'kubepods'), PIDS), 'max');
  assert.equal(await read(second.parentFor(pod), PIDS), 'max');
  const memory = await read(join(root, 'kubepods'), MEMORY);
  assert.ok(memory === 'max' || Number(memory) > 2 ** 60, memory);
});

test('cgroups changed or removed by another process are restored after a while', async (context) => {
  const pods = await open(context);
  const pod = podOf('restored', { requests: { cpu: '1' } });
  await pods.ensure(pod);
  const burstable = join(root, 'kubepods', 'burstable');
  await setCgroupLimits(cgroups, burstable, { cpuShares: 10 });
  await removeCgroup(cgroups, pods.parentFor(pod));
  await pods.refresh();
  await pods.ensure(pod);
  await assertShares(burstable, 1024, 39);
  await assertShares(pods.parentFor(pod), 1024, 39);
});

test('a pod in a removed QoS class regains all controllers after a while', async (context) => {
  const pods = await open(context, { limits: { pidsPerPod: 100 }, hugePageSizes: ['2MB'] });
  await pods.ensure(podOf('before', {}));
  await removeCgroup(cgroups, join(root, 'kubepods', 'besteffort'));
  await pods.refresh();
  const pod = podOf('behind', {});
  await pods.ensure(pod);
  assert.equal(await read(pods.parentFor(pod), PIDS), '100');
  if (treeOf(cgroups, 'hugetlb') === undefined) return;
  const pages = { controller: 'hugetlb', v1: 'hugetlb.2MB.limit_in_bytes', v2: 'hugetlb.2MB.max' };
  assert.equal(await read(pods.parentFor(pod), pages), '0');
});

test('after simultaneous additions and removals of pods, a QoS class has the weight of the remaining pods', async (context) => {
  const pods = await open(context);
  const names = Array.from({ length: 8 }, (_, index) => `crowd${index}`);
  await Promise.all(names.map((name) => pods.ensure(podOf(name, { requests: { cpu: '500m' } }))));
  await assertShares(join(root, 'kubepods', 'burstable'), 4096, 157);
  await Promise.all(names.slice(2).map((name) => pods.remove(name)));
  await assertShares(join(root, 'kubepods', 'burstable'), 1024, 39);
});

test('the overall limit of all pods is reported once', async (context) => {
  const parent = join(root, 'reported');
  const reports: (string | undefined)[] = [];
  const allPods = { memoryBytes: 64 << 20, pids: 100 };
  const pods = await open(context, { parent, limits: { allPods }, onLimited: (failure) => reports.push(failure) });
  await pods.refresh();
  assert.deepEqual(reports, [undefined], 'reported once');
});

test('processes in the cgroup of a removed pod are killed, but never those of another kubelet', async (context) => {
  const [one, other] = [await open(context), await open(context, { parent: join(root, 'other') })];
  const [gone, foreign] = [podOf('gone', {}), podOf('foreign', {})];
  await one.ensure(gone);
  await other.ensure(foreign);
  const [inGone, inForeign] = [
    await sleeperIn(context, one.parentFor(gone)),
    await sleeperIn(context, other.parentFor(foreign)),
  ];
  await one.removeOrphans(new Set());
  assert.ok(!(await cgroupExists(cgroups, one.parentFor(gone))));
  assert.equal(await inGone.ended, 'SIGKILL');
  assert.equal(inForeign.process.exitCode, null);
  assert.ok(await cgroupExists(cgroups, other.parentFor(foreign)));
});

test('a second kubelet with the same cgroups removes nothing until the first one is killed', async (context) => {
  const parent = join(root, 'shared');
  const first = await kubeletProcess(context, parent);
  const second = await open(context, { parent });
  const left = join(parent, 'kubepods', 'besteffort', 'podleft');
  await second.removeOrphans(new Set());
  assert.ok(await cgroupExists(cgroups, left));
  first.process.kill('SIGKILL');
  await first.ended;
  await second.removeOrphans(new Set(['mine']));
  assert.ok(!(await cgroupExists(cgroups, left)));
});

test('a reserved cgroup of the host gets limits, and must exist', async () => {
  const path = join(root, 'reserved');
  await createCgroup(cgroups, path);
  const host = { hierarchy: cgroups, driver: 'cgroupfs' } as const;
  await limitReservedCgroup(host, path, { cpuShares: 512, memoryLimitBytes: 64 << 20 });
  await assertShares(path, 512, 20);
  assert.equal(await read(path, MEMORY), String(64 << 20));
  await assert.rejects(limitReservedCgroup(host, join(root, 'missing'), {}), /there is no cgroup .*missing/);
});

test('a pod left frozen by a killed kubelet is thawed at the next start', async (context) => {
  const pod = podOf('frozen', { requests: { cpu: '1' } });
  const path = (await open(context)).parentFor(pod);
  await createCgroup(cgroups, path);
  context.after(() => removeCgroup(cgroups, path));
  await freeze(cgroups, path);
  assert.ok(isFrozenCgroup(cgroups, path));
  await open(context);
  assert.ok(!isFrozenCgroup(cgroups, path));
});

/** Starts a process in a cgroup; `ended` resolves with its signal. */
async function sleeperIn(context: TestContext, path: string) {
  const sleeper = spawn('sleep', ['60'], { stdio: 'ignore' });
  context.after(() => sleeper.kill('SIGKILL'));
  const ended = once(sleeper, 'exit').then(([, signal]) => signal as string | null);
  await once(sleeper, 'spawn');
  for (const name of ['memory', 'pids']) {
    const tree = treeOf(cgroups, name);
    if (tree !== undefined) await writeFile(join(cgroupDirectory(tree, path), 'cgroup.procs'), String(sleeper.pid));
  }
  return { process: sleeper, ended };
}

/** Opens a kubelet's cgroups in a separate process, including those of the pod `left`. */
async function kubeletProcess(context: TestContext, parent: string) {
  const module = new URL('../../packages/kubelet/src/cgroups/open-pod-cgroups.ts', import.meta.url);
  const base = new URL('../../packages/base/src/index.ts', import.meta.url);
  const host = new URL('../../packages/host/src/index.ts', import.meta.url);
  const source = `
    import { silentLogger as logger } from ${JSON.stringify(base.href)};
    import { discoverCgroups } from ${JSON.stringify(host.href)};
    import { openPodCgroups } from ${JSON.stringify(module.href)};
    const policy = ${JSON.stringify(DEFAULT_RESOURCE_POLICY)};
    const settings = { limits: {}, milliCpu: 1000n, policy, hugePageSizes: [] };
    const hierarchy = await discoverCgroups();
    const cgroups = await openPodCgroups({ root: ${JSON.stringify(parent)}, driver: 'cgroupfs', hierarchy, settings, logger });
    const metadata = { name: 'left', namespace: 'd', uid: 'left' };
    await cgroups.ensure({ metadata, spec: { containers: [{ name: 'c', image: 'i' }] } });
    await cgroups.removeOrphans(new Set(['left']));
    console.log('ready');
    setInterval(() => undefined, 1000);`;
  const kubelet = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  context.after(() => kubelet.kill('SIGKILL'));
  const ended = once(kubelet, 'exit');
  await once(kubelet.stdout, 'data');
  return { process: kubelet, ended };
}
