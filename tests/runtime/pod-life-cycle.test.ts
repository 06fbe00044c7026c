import assert from 'node:assert/strict';
import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ContainerState, NamespaceMode, PodSandboxState } from '@podwright/cri';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';

const runtime = new RuntimeUnderTest();
before(async () => void (await runtime.start()));
after(async () => assert.deepEqual(await runtime.end(), [], 'the runtime leaves nothing on the host'));

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

test('a pod is run, listed, used, stopped and removed, and leaves nothing behind', async () => {
  const { cri, image } = runtime;
  const config = podOf(runtime.place, 'web');
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config });
  const container = containerOf(image, 'main', 'echo out; echo err >&2; exec sleep 1000');
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config: container, sandboxConfig: config });
  assert.equal((await cri.runtime.containerStatus({ containerId })).status?.state, ContainerState.CONTAINER_CREATED);
  await cri.runtime.startContainer({ containerId });

  const sandbox = (await cri.runtime.podSandboxStatus({ podSandboxId })).status;
  assert.equal(sandbox?.state, PodSandboxState.SANDBOX_READY);
  assert.match(sandbox?.network?.ip ?? '', /^10\./);
  const seen = await cri.runtime.execSync({
    containerId,
    cmd: ['sh', '-c', 'hostname; hostname -i; exit 3'],
    timeout: 10n,
  });
  assert.equal(seen.exitCode, 3);
  assert.equal(text(seen.stdout), `web\n${sandbox?.network?.ip}\n`);
  const log = readFileSync(join(runtime.place.logs, 'web', 'main.log'), 'utf8');
  assert.match(log, /^\S+ stdout F out$/m);
  assert.match(log, /^\S+ stderr F err$/m);

  await cri.runtime.stopContainer({ containerId, timeout: 1n });
  const { status } = await cri.runtime.containerStatus({ containerId });
  assert.equal(status?.state, ContainerState.CONTAINER_EXITED);
  assert.ok(status!.finishedAt > status!.startedAt && status!.startedAt > status!.createdAt);
  await cri.runtime.removeContainer({ containerId });
  await cri.runtime.stopPodSandbox({ podSandboxId });
  assert.equal((await cri.runtime.podSandboxStatus({ podSandboxId })).status?.state, PodSandboxState.SANDBOX_NOTREADY);
  await cri.runtime.removePodSandbox({ podSandboxId });
  await assert.rejects(cri.runtime.podSandboxStatus({ podSandboxId }), { code: 'not_found' });
  assert.deepEqual(await runtime.remains(), []);
});

test('a container exit has the CRI’s reasons and messages', async () => {
  const { cri, image } = runtime;
  const config = podOf(runtime.place, 'ends');
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config });
  const run = async (name: string, script: string) => {
    const { containerId } = await cri.runtime.createContainer({
      podSandboxId,
      config: containerOf(image, name, script),
    });
    await cri.runtime.startContainer({ containerId });
    await runtime.untilExited(containerId);
    const { status } = await cri.runtime.containerStatus({ containerId });
    return [status?.reason, status?.exitCode];
  };
  assert.deepEqual(await run('fine', 'exit 0'), ['Completed', 0]);
  assert.deepEqual(await run('fails', 'exit 7'), ['Error', 7]);
  // PID 1 of a PID namespace ignores signals from within its namespace, but its child does not
  assert.deepEqual(await run('killed', 'sh -c "kill -9 \\$\\$"; exit $?'), ['Error', 137]);
  await cri.runtime.removePodSandbox({ podSandboxId });
  assert.deepEqual(await runtime.remains(), []);
});

test('a command missing from the image fails the start, and the status includes the reason', async () => {
  const { cri, image } = runtime;
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(runtime.place, 'nocmd') });
  const config = { ...containerOf(image, 'main', ''), command: ['/no/such/program'] };
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config });
  await assert.rejects(cri.runtime.startContainer({ containerId }), /no such file or directory/i);
  const { status } = await cri.runtime.containerStatus({ containerId });
  assert.equal(status?.state, ContainerState.CONTAINER_EXITED);
  assert.equal(status?.reason, 'StartError');
  assert.equal(status?.exitCode, 128);
  assert.match(status?.message ?? '', /no such file or directory/i);
  await cri.runtime.removePodSandbox({ podSandboxId });
  assert.deepEqual(await runtime.remains(), []);
});

test('a pod can share one PID namespace', async () => {
  const { cri, image } = runtime;
  const { podSandboxId } = await cri.runtime.runPodSandbox({
    config: podOf(runtime.place, 'shared', { pid: NamespaceMode.POD }),
  });
  const start = async (name: string) => {
    const config = containerOf(image, name, 'exec sleep 1000', { pid: NamespaceMode.POD });
    const { containerId } = await cri.runtime.createContainer({ podSandboxId, config });
    await cri.runtime.startContainer({ containerId });
    return containerId;
  };
  await start('one');
  const { stdout } = await cri.runtime.execSync({
    containerId: await start('two'),
    cmd: ['ps', '-o', 'args'],
    timeout: 10n,
  });
  assert.equal(text(stdout).match(/sleep 1000/g)?.length, 2);
  assert.match(text(stdout), /init -P/);
  await cri.runtime.removePodSandbox({ podSandboxId });
  assert.deepEqual(await runtime.remains(), []);
});

test("a pod on the host's network has the host's name and does not have its own address", async () => {
  const { cri, image } = runtime;
  const modes = { network: NamespaceMode.NODE, ipc: NamespaceMode.NODE };
  const { podSandboxId } = await cri.runtime.runPodSandbox({
    config: { ...podOf(runtime.place, 'host', modes), hostname: '' },
  });
  const config = containerOf(image, 'main', 'exec sleep 1000', modes);
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config });
  await cri.runtime.startContainer({ containerId });
  const { stdout } = await cri.runtime.execSync({
    containerId,
    cmd: ['sh', '-c', 'hostname; readlink /proc/self/ns/net; readlink /proc/self/ns/ipc'],
    timeout: 10n,
  });
  assert.equal(
    text(stdout),
    `${hostname()}\n${readlinkSync('/proc/self/ns/net')}\n${readlinkSync('/proc/self/ns/ipc')}\n`,
  );
  assert.equal((await cri.runtime.podSandboxStatus({ podSandboxId })).status?.network?.ip, '');
  await cri.runtime.removePodSandbox({ podSandboxId });
  assert.deepEqual(await runtime.remains(), []);
});

test('stop and remove succeed for missing sandboxes and containers', async () => {
  const { cri } = runtime;
  await cri.runtime.stopPodSandbox({ podSandboxId: 'unknown' });
  await cri.runtime.removePodSandbox({ podSandboxId: 'unknown' });
  await cri.runtime.stopContainer({ containerId: 'unknown' });
  await cri.runtime.removeContainer({ containerId: 'unknown' });
  await assert.rejects(cri.runtime.containerStatus({ containerId: 'unknown' }), { code: 'not_found' });
  await assert.rejects(cri.runtime.startContainer({ containerId: 'unknown' }), { code: 'not_found' });
});

test('lists support filters, and ids may be prefixes', async () => {
  const { cri, image } = runtime;
  const config = { ...podOf(runtime.place, 'lists'), labels: { app: 'lists' } };
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config });
  const { containerId } = await cri.runtime.createContainer({
    podSandboxId,
    config: containerOf(image, 'main', 'sleep 1'),
  });
  const sandboxes = async (filter: object) => (await cri.runtime.listPodSandbox({ filter })).items.map(({ id }) => id);
  assert.deepEqual(await sandboxes({ labelSelector: { app: 'lists' } }), [podSandboxId]);
  assert.deepEqual(await sandboxes({ labelSelector: { app: 'other' } }), []);
  assert.deepEqual(await sandboxes({ id: podSandboxId.slice(0, 12) }), [podSandboxId]);
  const { containers } = await cri.runtime.listContainers({ filter: { podSandboxId: podSandboxId.slice(0, 12) } });
  assert.deepEqual(
    containers.map(({ id }) => id),
    [containerId],
  );
  assert.equal((await cri.runtime.containerStatus({ containerId: containerId.slice(0, 12) })).status?.id, containerId);
  await cri.runtime.removePodSandbox({ podSandboxId: podSandboxId.slice(0, 12) });
  assert.ok(!existsSync(join(runtime.place.options.state, 'ns', podSandboxId)));
});
