/** Statistics of pods on a Docker Engine. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { waitFor } from '@podwright/base';
import { discoverCgroups, removeCgroup } from '@podwright/host';
import { CONTAINER_TYPE, TYPE_LABEL } from '../../packages/dockershim/src/labels/labels.ts';
import { BarePods } from './bare-pods.fixture.ts';
import { busyboxImage } from './docker-engine.fixture.ts';

let pods: BarePods;
let sandboxId: string;
let busy: string;
let idle: string;

before(async () => {
  pods = await BarePods.start();
  sandboxId = await pods.sandbox();
  const script = 'head -c 5000000 /dev/zero > /written; touch /done; while :; do :; done';
  [busy, idle] = await Promise.all([pods.container(sandboxId, script), pods.container(sandboxId, 'sleep 1000')]);
  const cmd = ['sh', '-c', 'until [ -e /done ]; do sleep 0.05; done'];
  await pods.cri.runtime.execSync({ containerId: busy, cmd, timeout: 60n });
});
after(() => pods?.[Symbol.asyncDispose]());

const stats = () => pods.cri.runtime;

test('container statistics include CPU and memory from the kernel, and the writable layer', async () => {
  const layer = async () => {
    const { stats: found } = await stats().containerStats({ containerId: busy });
    return (found?.writableLayer?.usedBytes?.value ?? 0n) >= 5_000_000n ? found : undefined;
  };
  const container = await waitFor(layer, { intervalMs: 200, signal: AbortSignal.timeout(90_000) });
  assert.deepEqual({ ...container.attributes?.labels }, { app: 'bare' });
  assert.equal(container.attributes?.metadata?.name, 'main');
  assert.ok(container.memory!.workingSetBytes!.value > 0n);
  assert.ok(container.writableLayer!.inodesUsed!.value >= 1n);
  assert.equal(container.writableLayer!.fsId?.mountpoint, join(pods.docker.scratch, 'data'));
  const usesCpu = async () => {
    const { stats: found } = await stats().containerStats({ containerId: busy });
    return (found?.cpu?.usageNanoCores?.value ?? 0n) > 10_000_000n || undefined;
  };
  await waitFor(usesCpu, { intervalMs: 200, signal: AbortSignal.timeout(60_000) });
});

test('lists have the running containers that match their filters, and no foreign ones', async () => {
  const { containers } = pods.engine;
  const hostile = {
    Image: busyboxImage,
    Cmd: ['sleep', '1000'],
    Labels: { [TYPE_LABEL]: CONTAINER_TYPE },
    HostConfig: {},
  };
  const foreign = await containers.create('k8s_odd', hostile);
  await containers.start(foreign);
  const ended = await pods.container(sandboxId, 'exit 0');
  await waitFor(async () => !(await containers.inspect(ended)).State.Running || undefined, {
    ...{ intervalMs: 50, signal: AbortSignal.timeout(30_000) },
  });
  const check = async (
    filter: Parameters<ReturnType<typeof stats>['listContainerStats']>[0]['filter'],
    expected: string[],
  ) => {
    const { stats: found } = await stats().listContainerStats({ filter });
    assert.deepEqual(found.map(({ attributes }) => attributes!.id).sort(), expected.toSorted());
  };
  await check(undefined, [busy, idle]);
  await check({ id: idle.slice(0, 20) }, [idle]);
  await check({ podSandboxId: sandboxId, labelSelector: { app: 'bare' } }, [busy, idle]);
  await check({ labelSelector: { app: 'other' } }, []);
  await check({ podSandboxId: 'nosuch' }, []);
  await assert.rejects(async () => stats().containerStats({ containerId: foreign }), { code: 'not_found' });
  await assert.rejects(async () => stats().podSandboxStats({ podSandboxId: busy }), { code: 'not_found' });
  const { stats: last } = await stats().containerStats({ containerId: ended });
  assert.deepEqual([last?.attributes?.id, last?.cpu], [ended, undefined]);
  for (const id of [foreign, ended]) await containers.remove(id);
});

test('pod statistics include its network, its containers, and their sum if it has no cgroup of its own', async () => {
  const { stats: pod } = await stats().podSandboxStats({ podSandboxId: sandboxId });
  assert.equal(pod?.attributes?.metadata?.name, 'pod');
  const linux = pod?.linux;
  assert.deepEqual(linux?.containers.map(({ attributes }) => attributes!.id).sort(), [busy, idle].sort());
  const sum = linux!.containers.reduce((total, { memory }) => total + memory!.workingSetBytes!.value, 0n);
  assert.equal(linux!.memory!.workingSetBytes!.value, sum);
  assert.equal(linux!.process!.processCount!.value, 2n);
});

test('statistics of a pod with its own cgroup are those of the cgroup, and a pod on the host network has no interfaces', async () => {
  const parent = `/pwdstats-${process.pid}`;
  const id = await pods.sandbox({ CgroupParent: parent, NetworkMode: 'host' });
  const container = await pods.container(id, 'sleep 1000', { host: { CgroupParent: parent } });
  const { stats: found } = await stats().listPodSandboxStats({ filter: { id } });
  const linux = found[0]?.linux;
  assert.deepEqual(
    [found.length, linux?.network?.defaultInterface, linux?.network?.interfaces.length],
    [1, undefined, 0],
  );
  assert.equal(linux?.process?.processCount?.value, 2n, 'the sandbox has a process too');
  for (const one of [container, id]) await pods.engine.containers.remove(one);
  await removeCgroup(await discoverCgroups(), parent); // Docker does not remove it
});
