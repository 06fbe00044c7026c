/**
 * Pods on a host whose cgroups are managed by systemd; run.sh has a guest with a real one. Slices are created the way upstream's kubelet
 * does; pods without a slice are in a delegated unit.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { CgroupDriver, ContainerState } from '@podwright/cri';
import { delegateCgroup, delegatedUnit, discoverCgroups, endDelegation } from '@podwright/host';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { makeTestPlace, RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import {
  cgroupOf,
  countJobs,
  makePodSlice,
  messagesDuring,
  readCgroup,
  reloadSystemd,
  stopUnits,
  unitsWith,
} from './systemd.fixture.ts';

const place = makeTestPlace();
const unit = delegatedUnit(place.options.cgroupParent);
place.scope.cgroupParent = `/${unit}/pods`;
const shimmed = { task: 'shim-v2', program: 'containerd-shim-runc-v2', sandbox: 'pinned' };
const options = { cgroupDriver: 'systemd' as const, cgroupParent: `/${unit}/pods`, handlers: { shimmed } };
let runtime: RuntimeUnderTest;

before(async () => {
  const cgroups = await discoverCgroups();
  assert.equal(await delegateCgroup(cgroups, unit, silentLogger), options.cgroupParent);
  assert.equal(
    await delegateCgroup(cgroups, unit, silentLogger),
    options.cgroupParent,
    'a restart finds the delegated unit',
  );
  runtime = new RuntimeUnderTest(place);
  await runtime.start(options);
});
after(async () => {
  const left = await runtime.end();
  await endDelegation(await discoverCgroups(), options.cgroupParent);
  stopUnits('kubepods.slice');
  assert.deepEqual([...left, ...unitsWith(unit.replace('-pods.service', '')), ...unitsWith('kubepods')], []);
  assert.ok(!existsSync(`/sys/fs/cgroup/${unit}`));
});

const LIMITS = {
  memoryLimitInBytes: 64n << 20n,
  cpuQuota: 50_000n,
  cpuPeriod: 100_000n,
  unified: { 'pids.max': '40', 'memory.oom.group': '1' },
};

/** Starts a container in a pod of its own, under `cgroupParent`. */
async function start(name: string, handler: string, cgroupParent: string, script = 'exec sleep 1000') {
  const { cri, image } = runtime;
  const pod = podOf(place, name);
  const sandboxConfig = { ...pod, linux: { ...pod.linux, cgroupParent } };
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: sandboxConfig, runtimeHandler: handler });
  const base = containerOf(image, 'main', script);
  const config = { ...base, linux: { ...base.linux, resources: LIMITS } };
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config, sandboxConfig });
  await cri.runtime.startContainer({ containerId });
  const { info } = await cri.runtime.containerStatus({ containerId, verbose: true });
  return { podSandboxId, containerId, pid: Number(JSON.parse(info.info!).pid) };
}

const memoryOf = async (containerId: string) =>
  (await runtime.cri.runtime.containerStats({ containerId })).stats?.memory;
const limitsIn = (cgroup: string) =>
  ['memory.max', 'cpu.max', 'pids.max', 'memory.oom.group'].map((file) => readCgroup(cgroup, file));

async function exec(containerId: string): Promise<void> {
  const { stdout } = await runtime.cri.runtime.execSync({ containerId, cmd: ['echo', 'hello'], timeout: 60n });
  assert.equal(Buffer.from(stdout).toString(), 'hello\n');
}

async function removed(podSandboxId: string, containerId: string): Promise<void> {
  await runtime.cri.runtime.removePodSandbox({ podSandboxId });
  assert.deepEqual(unitsWith(containerId), []);
}

test('RuntimeConfig reports the systemd driver', async () => {
  const { linux } = await runtime.cri.runtime.runtimeConfig({});
  assert.equal(linux?.cgroupDriver, CgroupDriver.SYSTEMD);
});

for (const handler of ['runc', 'crun', 'shimmed']) {
  test(`with ${handler} a container in a kubelet's slice has a scope, with its limits, until it is removed`, async () => {
    const slice = makePodSlice(`1_${handler}`);
    let made: Awaited<ReturnType<typeof start>>;
    const calls = await messagesDuring(async () => {
      made = await start(`slice-${handler}`, handler, slice);
    });
    const { podSandboxId, containerId, pid } = made!;
    assert.ok(calls.includes('org.freedesktop.systemd1.Manager.StartTransientUnit'), `a scope is started: ${calls}`);
    const scope = `${slice}/podwright-${containerId}.scope`;
    const cgroup = cgroupOf(pid);
    assert.ok(cgroup === scope || cgroup === `${scope}/container`, cgroup);
    assert.deepEqual(limitsIn(cgroup), [String(64 << 20), '50000 100000', '40', '1']);
    assert.deepEqual(unitsWith(containerId), [`podwright-${containerId}.scope`]);
    assert.ok((await memoryOf(containerId))!.usageBytes!.value > 0n);
    const { stats } = await runtime.cri.runtime.podSandboxStats({ podSandboxId });
    assert.ok(stats!.linux!.memory!.usageBytes!.value > 0n, 'the usage of the slice');

    const linux = { ...LIMITS, memoryLimitInBytes: 48n << 20n, cpuQuota: 20_000n, unified: {} };
    await runtime.cri.runtime.updateContainerResources({ containerId, linux });
    const updated = [String(48 << 20), '20000 100000', '40', '1'];
    assert.deepEqual(limitsIn(cgroup), updated);
    reloadSystemd();
    assert.deepEqual(limitsIn(cgroup), updated, 'after a daemon-reload');

    await runtime.stop();
    await runtime.start(options, { load: false });
    const { status } = await runtime.cri.runtime.containerStatus({ containerId });
    assert.equal(status?.state, ContainerState.CONTAINER_RUNNING);
    assert.deepEqual(await messagesDuring(() => exec(containerId)), [], 'exec does not go through D-Bus');
    await removed(podSandboxId, containerId);
    assert.ok(!existsSync(join('/sys/fs/cgroup', scope)));
    assert.ok(existsSync(join('/sys/fs/cgroup', slice)), "the slice stays, because it is the kubelet's");
  });
}

for (const handler of ['runc', 'crun']) {
  test(`with ${handler} a container in a slice that runs out of memory has the reason OOMKilled`, async () => {
    const slice = makePodSlice(`2_${handler}`);
    for (let round = 0; round < 5; round++) {
      const script = 'x=a; while :; do x=$x$x; done';
      const { podSandboxId, containerId } = await start(`hungry-${handler}-${round}`, handler, slice, script);
      await runtime.untilExited(containerId);
      const { status } = await runtime.cri.runtime.containerStatus({ containerId });
      assert.equal(status?.reason, 'OOMKilled', `round ${round}`);
      await removed(podSandboxId, containerId);
    }
  });

  test(`with ${handler} all processes of a container in a slice are killed when a command exceeds its memory limit, also after a reload`, async () => {
    const slice = makePodSlice(`3_${handler}`);
    const { podSandboxId, containerId } = await start(`together-${handler}`, handler, slice);
    reloadSystemd();
    const cmd = ['sh', '-c', 'x=a; while :; do x=$x$x; done'];
    await runtime.cri.runtime.execSync({ containerId, cmd, timeout: 60n }).catch(() => undefined);
    await runtime.untilExited(containerId);
    const { status } = await runtime.cri.runtime.containerStatus({ containerId });
    assert.equal(status?.reason, 'OOMKilled');
    await removed(podSandboxId, containerId);
  });

  test(`with ${handler} a pod without a slice causes no work for systemd`, async () => {
    const { cgroupParent } = options;
    mkdirSync(join('/sys/fs/cgroup', cgroupParent, 'kubepods'), { recursive: true });
    for (const parent of ['', `${cgroupParent}/kubepods/pod1`]) {
      const jobs = countJobs();
      const lives = async () => {
        const { podSandboxId, containerId, pid } = await start(`plain-${handler}`, handler, parent);
        const cgroup = `${parent === '' ? cgroupParent : parent}/${containerId}`;
        assert.equal(cgroupOf(pid), cgroup);
        assert.deepEqual(limitsIn(cgroup), [String(64 << 20), '50000 100000', '40', '1']);
        assert.ok((await memoryOf(containerId))!.usageBytes!.value > 0n);
        await exec(containerId);
        await removed(podSandboxId, containerId);
      };
      assert.deepEqual(await messagesDuring(lives), []);
      assert.equal(countJobs(), jobs);
    }
  });

  test(`with ${handler} the limits of a pod without a slice outlive reloads, and pods outlive the unit`, async () => {
    const { podSandboxId, containerId, pid } = await start(`reload-${handler}`, handler, '');
    const cgroup = cgroupOf(pid);
    reloadSystemd();
    stopUnits(unit);
    reloadSystemd();
    const again = await delegateCgroup(await discoverCgroups(), unit, silentLogger);
    assert.equal(again, options.cgroupParent, 'a node that starts now uses the same parent cgroup');
    assert.deepEqual(limitsIn(cgroup), [String(64 << 20), '50000 100000', '40', '1']);
    await exec(containerId);
    await removed(podSandboxId, containerId);
    await delegateCgroup(await discoverCgroups(), unit, silentLogger);
    assert.deepEqual(unitsWith(unit), [unit]);
  });
}
