/** A container runs the spec committed at its creation; inspecting it changes nothing. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { sleep, waitFor } from '@podwright/base';
import { ContainerState, NamespaceMode } from '@podwright/cri';
import type { OciSpec } from '@podwright/oci';
import { leftovers, takeInventory } from '../fixtures/host-inventory.ts';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { makeTestPlace, RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { emptyBundle, startAsBefore } from './earlier-version.fixture.ts';

const place = makeTestPlace();
const cdi = join(place.logs, 'cdi'); // below a directory that may be left over
const data = join(place.logs, 'data');
const device = join(cdi, 'null.json');
mkdirSync(cdi, { recursive: true });
const options = { cdiDirectories: [cdi], ociRuntime: 'runc' };
const runtime = new RuntimeUnderTest(place);
before(async () => void (await runtime.start(options)));
after(async () => assert.deepEqual(await runtime.end(), [], 'the runtime leaves nothing on the host'));

type Details = { pid: number; runtimeSpec?: OciSpec };

async function inspect(containerId: string): Promise<Details> {
  const { info } = await runtime.cri.runtime.containerStatus({ containerId, verbose: true });
  return JSON.parse(info.info!) as Details;
}

/** Returns the host inventory once it is stable, because a removal returns before all traces of the container are gone. */
async function settledInventory(): Promise<ReturnType<typeof takeInventory>> {
  for (let last = takeInventory(place.scope); ; ) {
    await sleep(300);
    const now = takeInventory(place.scope);
    if (isDeepStrictEqual(last, now)) return now;
    last = now;
  }
}

/** Inspects a container, asserting that this creates nothing on the host. */
async function inspectOnly(containerId: string): Promise<Details> {
  const before = await settledInventory();
  const details = await inspect(containerId);
  const after = takeInventory(place.scope);
  assert.deepEqual(leftovers(before, after), []);
  assert.deepEqual(after.mounts, before.mounts);
  return details;
}

async function output(containerId: string, script: string): Promise<string> {
  const { stdout } = await runtime.cri.runtime.execSync({ containerId, cmd: ['sh', '-c', script], timeout: 60n });
  return Buffer.from(stdout).toString();
}

const create = (podSandboxId: string, config: object) =>
  runtime.cri.runtime.createContainer({ podSandboxId, config: config as never }).then(({ containerId }) => containerId);

/** Creates a container with a CDI device, a mount and another container's PID namespace, without starting it. */
async function createWhole(podSandboxId: string, targetId: string): Promise<string> {
  const containerEdits = { env: ['FROM_CDI=1'], deviceNodes: [{ path: '/dev/like-null', hostPath: '/dev/null' }] };
  const devices = [{ name: 'like', containerEdits }];
  writeFileSync(device, JSON.stringify({ cdiVersion: '0.6.0', kind: 'podwright.test/null', devices }));
  const config = containerOf(runtime.image, 'whole', 'exec sleep 1000');
  const namespaceOptions = { pid: NamespaceMode.TARGET, targetId };
  return await create(podSandboxId, {
    ...config,
    mounts: [{ containerPath: '/data', hostPath: data }],
    CDIDevices: [{ name: 'podwright.test/null=like' }],
    linux: { securityContext: { namespaceOptions } },
  });
}

test('inspecting a container changes nothing on the host, and shows the running specification even if its sources were removed', async () => {
  const { cri, image } = runtime;
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(place, 'inspected') });
  const target = await create(podSandboxId, containerOf(image, 'target', 'exec sleep 1000'));
  await cri.runtime.startContainer({ containerId: target });
  const containerId = await createWhole(podSandboxId, target);
  const created = await inspect(containerId);
  assert.equal(created.pid, 0);
  assert.ok(existsSync(data), 'the creation has created the host path');
  await cri.runtime.startContainer({ containerId });
  assert.equal(await output(containerId, 'echo $FROM_CDI; test -c /dev/like-null && echo device'), '1\ndevice\n');

  rmSync(data, { recursive: true });
  rmSync(device);
  await cri.runtime.removeContainer({ containerId: target }); // kills all processes of its PID namespace
  await runtime.untilExited(containerId);
  const { runtimeSpec } = await inspectOnly(containerId);
  assert.ok(!existsSync(data), 'the host path is not created again');
  assert.deepEqual(runtimeSpec, created.runtimeSpec);
  assert.equal(runtimeSpec?.mounts.find(({ destination }) => destination === '/data')?.source, data);
  assert.ok(runtimeSpec.process.env.includes('FROM_CDI=1'));
  await cri.runtime.removePodSandbox({ podSandboxId });
  assert.deepEqual(await runtime.remains(), []);
});

test('inspecting a running container whose host path was removed changes nothing, and succeeds', async () => {
  const { cri, image } = runtime;
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(place, 'running') });
  const config = {
    ...containerOf(image, 'main', 'exec sleep 1000'),
    mounts: [{ containerPath: '/d', hostPath: data }],
  };
  const containerId = await create(podSandboxId, config);
  await cri.runtime.startContainer({ containerId });
  const sleeps = async () => ((await output(containerId, 'cat /proc/1/comm')) === 'sleep\n' ? true : undefined);
  await waitFor(sleeps, { intervalMs: 10, signal: AbortSignal.timeout(60_000) });
  rmSync(data, { recursive: true });
  const { pid, runtimeSpec } = await inspectOnly(containerId);
  assert.ok(pid > 0 && !existsSync(data));
  assert.equal(runtimeSpec?.root.path, join(place.options.state, 'containers', containerId, 'rootfs'));
  await cri.runtime.removePodSandbox({ podSandboxId });
});

test('a start runs the committed specification with updated limits; later updates are shown too', async () => {
  const { cri, image } = runtime;
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(place, 'updated') });
  const containerId = await create(podSandboxId, containerOf(image, 'main', 'exec sleep 1000'));
  const file = join(place.options.state, 'tasks', containerId, 'config.json');
  const update = (memoryLimitInBytes: bigint, oomScoreAdj: bigint) =>
    cri.runtime.updateContainerResources({ containerId, linux: { memoryLimitInBytes, oomScoreAdj } });
  const limit = async () => (await inspect(containerId)).runtimeSpec?.linux.resources?.memory?.limit;

  await update(64n << 20n, 500n);
  assert.equal(await limit(), 64 << 20);
  const committed = statSync(file).ino;
  await cri.runtime.startContainer({ containerId });
  assert.equal(statSync(file).ino, committed, 'the start does not write a new specification');
  assert.equal(await output(containerId, 'cat /proc/1/oom_score_adj'), '500\n');

  await update(32n << 20n, 700n);
  const { runtimeSpec } = await inspect(containerId);
  assert.equal(runtimeSpec?.linux.resources?.memory?.limit, 32 << 20);
  assert.equal(runtimeSpec?.process.oomScoreAdj, 500, 'a process keeps the value of its start');
  assert.ok((runtimeSpec?.linux.resources?.devices?.length ?? 0) > 0, 'and the device rules stay');

  await runtime.stop();
  await runtime.start(options, { load: false });
  assert.equal(await limit(), 32 << 20);
  await runtime.cri.runtime.removePodSandbox({ podSandboxId });
  assert.deepEqual(await runtime.remains(), []);
});

test('a container joins neither the PID namespace of an exited container nor that of a process that reuses its PID', async () => {
  const { cri, image } = runtime;
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(place, 'target') });
  const target = await create(podSandboxId, containerOf(image, 'target', 'exec sleep 1000'));
  await cri.runtime.startContainer({ containerId: target });
  const containerId = await createWhole(podSandboxId, target);
  await cri.runtime.stopContainer({ containerId: target, timeout: 0n });
  await assert.rejects(cri.runtime.startContainer({ containerId }), new RegExp(`${target}: it does not run`));
  const { status } = await cri.runtime.containerStatus({ containerId });
  assert.deepEqual([status?.state, status?.reason], [ContainerState.CONTAINER_EXITED, 'StartError']);
  await cri.runtime.removePodSandbox({ podSandboxId });
  assert.deepEqual(await runtime.remains(), []);
});

test('a container created by an earlier version is not started, with advice, and can be removed', async () => {
  const { podSandboxId } = await runtime.cri.runtime.runPodSandbox({ config: podOf(place, 'older') });
  const containerId = await create(podSandboxId, containerOf(runtime.image, 'main', 'exec sleep 1000'));
  await runtime.stop();
  emptyBundle(place, containerId);
  await runtime.start(options, { load: false });
  const { cri } = runtime;
  assert.equal((await inspect(containerId)).runtimeSpec, undefined);
  await cri.runtime.updateContainerResources({ containerId, linux: { memoryLimitInBytes: 64n << 20n } });
  await assert.rejects(cri.runtime.startContainer({ containerId }), /remove it and create it again/);
  const { status } = await cri.runtime.containerStatus({ containerId });
  assert.deepEqual([status?.state, status?.reason], [ContainerState.CONTAINER_EXITED, 'StartError']);
  assert.match(status?.message ?? '', /an earlier version of Podwright/);
  await cri.runtime.removeContainer({ containerId });
  await cri.runtime.removePodSandbox({ podSandboxId });
  assert.deepEqual(await runtime.remains(), []);
});

test('a container started by an earlier version keeps running, and can be used, updated, shown, stopped and removed', async () => {
  const { podSandboxId } = await runtime.cri.runtime.runPodSandbox({ config: podOf(place, 'older') });
  const containerId = await create(podSandboxId, containerOf(runtime.image, 'main', 'echo here; exec sleep 1000'));
  await runtime.stop();
  const pid = await startAsBefore(place, containerId);
  await runtime.start(options, { load: false });
  const { cri } = runtime;
  assert.equal((await inspect(containerId)).pid, pid);
  assert.equal(await output(containerId, 'echo in; id -u'), 'in\n0\n');
  await cri.runtime.updateContainerResources({ containerId, linux: { memoryLimitInBytes: 64n << 20n } });
  assert.equal((await inspect(containerId)).runtimeSpec?.linux.resources?.memory?.limit, 64 << 20);
  await cri.runtime.stopContainer({ containerId, timeout: 0n });
  const { status } = await cri.runtime.containerStatus({ containerId, verbose: true });
  assert.deepEqual([status?.state, status?.exitCode], [ContainerState.CONTAINER_EXITED, 137]);
  await cri.runtime.removeContainer({ containerId });
  await cri.runtime.removePodSandbox({ podSandboxId }); // waits for the removal of all files
  assert.ok(!readdirSync(join(place.options.state, 'tasks')).includes(containerId));
  assert.deepEqual(await runtime.remains(), []);
});
