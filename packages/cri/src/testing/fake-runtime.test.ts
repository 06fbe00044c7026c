import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { errorCode, isNotFound, PodwrightError, silentLogger } from '@podwright/base';
import { type CriClient, connectCri } from '../client/connect.ts';
import { ContainerEventType, ContainerState, PodSandboxState } from '../messages.ts';
import { createCriServer } from '../server/create-server.ts';
import { FakeRuntime } from './fake-runtime.ts';

const sandboxConfig = { metadata: { name: 'web', uid: 'u1', namespace: 'default' }, labels: { app: 'web' } };
const containerConfig = { metadata: { name: 'main' }, image: { image: 'busybox' }, linux: { resources: {} } };

async function startPod(client: CriClient): Promise<{ podSandboxId: string; containerId: string }> {
  const { podSandboxId } = await client.runtime.runPodSandbox({ config: sandboxConfig });
  const { containerId } = await client.runtime.createContainer({
    podSandboxId,
    config: containerConfig,
    sandboxConfig,
  });
  await client.runtime.startContainer({ containerId });
  return { podSandboxId, containerId };
}

const fails = (promise: Promise<unknown>, code: string) =>
  assert.rejects(promise, (error: unknown) => errorCode(error) === code);

async function overSocket(t: TestContext, fake: FakeRuntime): Promise<CriClient> {
  const directory = await mkdtemp(join(tmpdir(), 'podwright-fake-'));
  const logger = silentLogger;
  const server = await createCriServer({ socket: join(directory, 'cri.sock'), handlers: fake.handlers, logger });
  const client = await connectCri({ runtimeEndpoint: server.endpoint, logger });
  t.after(async () => {
    client.close();
    await server.close(0);
    await rm(directory, { recursive: true });
  });
  return client;
}

for (const way of ['direct', 'socket'] as const) {
  const clientOf = (t: TestContext, fake: FakeRuntime) => (way === 'direct' ? fake.client : overSocket(t, fake));

  test(`${way}: a pod is started, stopped and removed as the CRI specifies`, async (t) => {
    const fake = new FakeRuntime({ images: ['busybox'] });
    const client = await clientOf(t, fake);
    const { podSandboxId, containerId } = await startPod(client);

    const { status, containersStatuses } = await client.runtime.podSandboxStatus({ podSandboxId });
    assert.equal(status?.state, PodSandboxState.SANDBOX_READY);
    assert.equal(status.metadata?.name, 'web');
    assert.equal(containersStatuses[0]?.state, ContainerState.CONTAINER_RUNNING);

    fake.exitContainer(containerId, { exitCode: 3 });
    const { status: exited } = await client.runtime.containerStatus({ containerId });
    assert.equal(exited?.exitCode, 3);
    assert.equal(exited.reason, 'Error');

    await client.runtime.stopPodSandbox({ podSandboxId });
    await client.runtime.removePodSandbox({ podSandboxId });
    await client.runtime.removePodSandbox({ podSandboxId });
    await assert.rejects(client.runtime.containerStatus({ containerId }), isNotFound);
    assert.deepEqual((await client.runtime.listPodSandbox({})).items, []);
  });

  test(`${way}: watchers see every change of a container in order`, async (t) => {
    const fake = new FakeRuntime({ images: ['busybox'] });
    const client = await clientOf(t, fake);
    const { podSandboxId, containerId } = await startPod(client);
    const events = client.runtime.getContainerEvents({}, { signal: AbortSignal.timeout(5000) });
    await client.runtime.version({}); // the server has started the watch before it answers this
    await client.runtime.stopContainer({ containerId, timeout: 1n });
    await client.runtime.removePodSandbox({ podSandboxId });
    const seen: [string, ContainerEventType][] = [];
    for await (const { containerId: id, containerEventType } of events) {
      seen.push([id, containerEventType]);
      if (seen.length === 4) break;
    }
    const { CONTAINER_STOPPED_EVENT, CONTAINER_DELETED_EVENT } = ContainerEventType;
    assert.deepEqual(seen, [
      [containerId, CONTAINER_STOPPED_EVENT],
      [podSandboxId, CONTAINER_STOPPED_EVENT],
      [containerId, CONTAINER_DELETED_EVENT],
      [podSandboxId, CONTAINER_DELETED_EVENT],
    ]);
  });

  test(`${way}: lists are filtered by id, state, sandbox and labels`, async (t) => {
    const client = await clientOf(t, new FakeRuntime({ images: ['busybox'] }));
    const { podSandboxId, containerId } = await startPod(client);
    const sandboxes = async (filter: object) => (await client.runtime.listPodSandbox({ filter })).items.length;
    const containers = async (filter: object) => (await client.runtime.listContainers({ filter })).containers.length;
    assert.equal(await sandboxes({ labelSelector: { app: 'web' } }), 1);
    assert.equal(await sandboxes({ labelSelector: { app: 'db' } }), 0);
    assert.equal(await sandboxes({ state: { state: PodSandboxState.SANDBOX_NOTREADY } }), 0);
    assert.equal(await containers({ podSandboxId, id: containerId }), 1);
    assert.equal(await containers({ state: { state: ContainerState.CONTAINER_EXITED } }), 0);
  });

  test(`${way}: calls that do not fit the state are rejected`, async (t) => {
    const client = await clientOf(t, new FakeRuntime({ images: ['busybox'], inRegistry: (name) => name === 'nginx' }));
    const { podSandboxId, containerId } = await startPod(client);
    await fails(client.runtime.startContainer({ containerId }), 'failed_precondition');
    const unknownImage = { ...containerConfig, image: { image: 'nginx' } };
    await fails(client.runtime.createContainer({ podSandboxId, config: unknownImage }), 'not_found');
    await client.image.pullImage({ image: { image: 'nginx' } });
    await client.runtime.createContainer({ podSandboxId, config: unknownImage });
    await fails(client.image.pullImage({ image: { image: 'nowhere' } }), 'not_found');
    await client.runtime.stopPodSandbox({ podSandboxId });
    await fails(client.runtime.createContainer({ podSandboxId, config: containerConfig }), 'failed_precondition');
    await fails(client.runtime.execSync({ containerId, cmd: ['true'] }), 'failed_precondition');
    await fails(client.runtime.attach({ containerId }), 'unimplemented');
  });

  test(`${way}: injected faults occur before or after the work, as often as requested`, async (t) => {
    const fake = new FakeRuntime();
    const client = await clientOf(t, fake);
    const error = new PodwrightError('unavailable', 'no network today');
    fake.inject('runPodSandbox', { error, times: 1 });
    await assert.rejects(client.runtime.runPodSandbox({ config: sandboxConfig }), { message: error.message });
    assert.equal(fake.sandboxes.length, 0);
    fake.inject('runPodSandbox', { error, times: 1, when: 'after' });
    await fails(client.runtime.runPodSandbox({ config: sandboxConfig }), 'unavailable');
    assert.equal(fake.sandboxes.length, 1);
    fake.inject('status', { delayMs: 60_000 });
    await assert.rejects(client.runtime.status({}, { signal: AbortSignal.timeout(20) }), { name: 'TimeoutError' });
    assert.ok(fake.calls.some(({ method }) => method === 'runPodSandbox'));
  });
}

test('the runtime stores a copy of the caller’s configuration', async () => {
  const fake = new FakeRuntime({ images: ['busybox'] });
  const { containerId } = await startPod(fake.client);
  await fake.client.runtime.updateContainerResources({ containerId, linux: { cpuShares: 512n } });
  assert.equal(fake.containerNamed('main').config.linux?.resources?.cpuShares, 512n);
  assert.deepEqual(containerConfig.linux, { resources: {} });
});
