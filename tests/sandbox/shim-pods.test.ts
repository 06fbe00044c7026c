import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { waitFor } from '@podwright/base';
import { ContainerState, type CriClient, NamespaceMode, PodSandboxState } from '@podwright/cri';
import { createCgroup, discoverCgroups } from '@podwright/host';
import { takeInventory } from '../fixtures/host-inventory.ts';
import { startKillable } from '../fixtures/killable-runtime.ts';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { makeTestPlace, RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { makeTestShim } from './shim.fixture.ts';

const place = makeTestPlace();
place.options.handlers = {
  vm: { task: 'shim-v2', program: makeTestShim(place.directory), sandbox: 'shim' },
  pause: { task: 'shim-v2', program: 'containerd-shim-runc-v2', sandbox: 'pause' },
};
const runtime = new RuntimeUnderTest(place);
before(async () => {
  // a runtime creates this directory and this cgroup along with its first task, and leaves both in place
  mkdirSync(join(place.options.state, 'shim-runc/podwright'), { recursive: true });
  await createCgroup(await discoverCgroups(), place.options.cgroupParent!);
  await runtime.start();
  await runtime.stop();
});
after(async () => {
  await runtime.start({}, { load: false });
  assert.deepEqual(await runtime.end(), []);
});

type Pod = { podSandboxId: string; containerId: string };

async function startPod(cri: CriClient, handler: string, name: string, annotations = {}): Promise<Pod> {
  const modes = { pid: NamespaceMode.POD };
  const config = { ...podOf(place, name, modes), annotations };
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config, runtimeHandler: handler });
  const container = containerOf(runtime.image, 'main', 'exec sleep 1000', modes);
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config: container });
  await cri.runtime.startContainer({ containerId });
  return { podSandboxId, containerId };
}

async function removePod(cri: CriClient, { podSandboxId }: Pod): Promise<void> {
  await cri.runtime.stopPodSandbox({ podSandboxId });
  await cri.runtime.removePodSandbox({ podSandboxId });
}

async function output(cri: CriClient, { containerId }: Pod, script: string): Promise<string> {
  const { stdout } = await cri.runtime.execSync({ containerId, cmd: ['sh', '-c', script], timeout: 60n });
  return Buffer.from(stdout).toString().trim();
}

/** Returns the address of a task's or sandbox's shim. */
const shimOf = (id: string) =>
  JSON.parse(readFileSync(join(place.options.state, 'shims/bundles', id, 'shim.json'), 'utf8')).address as string;

async function withRuntime(work: (cri: CriClient) => Promise<void>): Promise<void> {
  const { cri, kill } = await startKillable(place);
  await work(cri).finally(kill);
}

for (const handler of ['vm', 'pause']) {
  test(`a pod of shims with sandbox controller ${handler} outlives the runtime, in one shim, and leaves nothing behind`, async () => {
    const looks = 'hostname; hostname -i; readlink /proc/self/ns/pid; ps -o args';
    let pod: Pod | undefined;
    let seen = '';
    await withRuntime(async (cri) => {
      pod = await startPod(cri, handler, 'web');
      seen = await output(cri, pod, looks);
      assert.match(seen, /^web\n10\.[\s\S]*catatonit -P|^web\n10\.[\s\S]*\/init -P/);
      assert.equal(shimOf(pod.containerId), shimOf(pod.podSandboxId));
    });
    await withRuntime(async (cri) => {
      const { podSandboxId } = pod!;
      const { status } = await cri.runtime.podSandboxStatus({ podSandboxId });
      assert.equal(status?.state, PodSandboxState.SANDBOX_READY);
      assert.equal(await output(cri, pod!, looks), seen);
      await removePod(cri, pod!);
      assert.deepEqual(await runtime.remains(), []);
    });
  });
}

test('the pod status includes the shim’s report about the sandbox: a process and metrics', () =>
  withRuntime(async (cri) => {
    const pod = await startPod(cri, 'vm', 'reported');
    const { info } = await cri.runtime.podSandboxStatus({ ...pod, verbose: true });
    const { pid, shim } = JSON.parse(info.info!);
    assert.match(readFileSync(`/proc/${pid}/cmdline`, 'utf8'), /^catatonit/);
    assert.deepEqual(shim, {
      address: shimOf(pod.podSandboxId),
      state: 'SANDBOX_READY',
      info: { hostname: 'reported' },
    });
    const { linux } = (await cri.runtime.podSandboxStats(pod)).stats!;
    assert.equal(linux?.cpu?.usageCoreNanoSeconds?.value, 7000n);
    assert.equal(linux?.memory?.usageBytes?.value, 12_345n);
    await removePod(cri, pod);
    assert.deepEqual(await runtime.remains(), []);
  }));

test('a pod is no longer ready when its shim is killed, and its containers have exited', () =>
  withRuntime(async (cri) => {
    const pod = await startPod(cri, 'vm', 'lost');
    const { processes } = takeInventory(place.scope);
    const shims = processes.filter((line) => line.includes(pod.podSandboxId) && line.endsWith(' serve'));
    assert.equal(shims.length, 1);
    process.kill(Number(shims[0]!.split(' ')[0]), 'SIGKILL');
    const ended = async () => {
      const { status, containersStatuses } = await cri.runtime.podSandboxStatus(pod);
      const states = containersStatuses.map(({ state }) => state);
      return status?.state === PodSandboxState.SANDBOX_NOTREADY && states[0] === ContainerState.CONTAINER_EXITED
        ? true
        : undefined;
    };
    await waitFor(ended, { intervalMs: 50, signal: AbortSignal.timeout(60_000) });
    await removePod(cri, pod);
    assert.deepEqual(await runtime.remains(), []);
  }));

test('the message of a shim that refuses a sandbox is reported, and nothing is left', () =>
  withRuntime(async (cri) => {
    const refused = startPod(cri, 'vm', 'refused', { 'test.podwright/shim': 'refuses' });
    await assert.rejects(refused, { code: 'resource_exhausted', message: /no room for another sandbox/ });
    assert.deepEqual((await cri.runtime.listPodSandbox({})).items, []);
    assert.deepEqual(await runtime.remains(), []);
  }));
