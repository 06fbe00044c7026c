import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { silentLogger, waitFor } from '@podwright/base';
import { ContainerState, type CriClient, connectCri, createCriServer } from '@podwright/cri';
import { FakeRuntime } from '@podwright/cri/testing';
import type { Container, Pod } from '@podwright/kube-api';
import { containerAnnotations, containerLabels, sandboxLabels } from './labels.ts';
import { RuntimePodReader } from './runtime-pod-reader.ts';
import { SandboxNetworks } from './sandbox-networks.ts';

const app: Container = { name: 'app', image: 'busybox:1' };
const metadata = { name: 'web', namespace: 'default', uid: 'u1' };
const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [app] } };

async function startRuntime(context: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 'pwk-reader-'));
  const runtime = new FakeRuntime({ images: ['busybox:1'] });
  const { handlers } = runtime;
  const server = await createCriServer({ socket: join(directory, 'cri.sock'), handlers, logger: silentLogger });
  const cri = await connectCri({ runtimeEndpoint: server.endpoint, logger: silentLogger });
  context.after(async () => {
    cri.close();
    await server.close(0);
    await rm(directory, { recursive: true });
  });
  const reader = new RuntimePodReader({ cri, networks: new SandboxNetworks(cri), kubeletId: 'k', runtimeName: 'fake' });
  return { runtime, cri, reader, ...(await startApp(cri)) };
}

async function startApp(cri: CriClient) {
  const sandboxConfig = { metadata: { ...metadata, attempt: 0 }, labels: sandboxLabels(pod, 'k') };
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: sandboxConfig });
  const config = {
    metadata: { name: 'app', attempt: 0 },
    image: { image: 'busybox:1' },
    labels: containerLabels(pod, app, 'k'),
    annotations: containerAnnotations(pod, app, 0),
  };
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config, sandboxConfig });
  await cri.runtime.startContainer({ containerId });
  return { podSandboxId, containerId };
}

test('a listing is reused until something changes', async (context) => {
  const { runtime, cri, reader, podSandboxId, containerId } = await startRuntime(context);
  const stateOf = (pods: Awaited<ReturnType<RuntimePodReader['listPods']>>) => pods.get('u1')?.containers[0]?.state;
  const first = await reader.listPods();
  assert.equal(stateOf(first), 'running');
  assert.equal(await reader.listPods(), first);
  runtime.exitContainer(containerId, { exitCode: 7 });
  assert.equal(stateOf(await reader.listPods()), 'exited');
  await cri.runtime.removePodSandbox({ podSandboxId });
  assert.equal((await reader.listPods()).size, 0);
});

/** Reads the status of a container that has exited, on a fake runtime; `reason` reads its exit reason. */
async function readEnd(context: TestContext, exitCode: number) {
  const { runtime, reader, containerId } = await startRuntime(context);
  runtime.exitContainer(containerId, { exitCode });
  const status = () => reader.podStatus(metadata);
  const reason = async () => (await status()).containers[0]?.reason;
  const reads = () => runtime.calls.filter(({ method }) => method === 'containerStatus').length;
  return { runtime, reader, status, reason, reads, app: runtime.containerNamed('app') };
}

test('OOMKilled may be reported late, and the container is not queried again afterwards', async (context) => {
  const { reader, app, status, reason, reads } = await readEnd(context, 137);
  assert.equal(await reason(), 'Error');
  assert.ok(reader.isUnsettled(await status()));
  app.reason = 'OOMKilled';
  assert.equal(await reason(), 'OOMKilled');
  const once = reads();
  assert.ok(!reader.isUnsettled(await status()));
  assert.equal(reads(), once);
});

test('a late status showing the container as running does not overwrite its exit', async (context) => {
  const { app, status, reason } = await readEnd(context, 137);
  const ended = app.state;
  assert.equal(await reason(), 'Error');
  app.state = ContainerState.CONTAINER_RUNNING;
  app.reason = '';
  const { containers } = await status();
  assert.deepEqual([containers[0]?.state, containers[0]?.reason], ['exited', 'Error']);
  app.state = ended;
  app.reason = 'OOMKilled';
  assert.equal(await reason(), 'OOMKilled');
});

test('the reason for a kill is final after a while, that for a failed command immediately', async (context) => {
  const killed = await readEnd(context, 137);
  const failed = await readEnd(context, 1);
  for (const { reason } of [killed, failed]) assert.equal(await reason(), 'Error');
  assert.ok(!failed.reader.isUnsettled(await failed.status()));
  assert.equal(failed.reads(), 1);
  await waitFor(async () => !killed.reader.isUnsettled(await killed.status()) || undefined, {
    intervalMs: 100,
    signal: AbortSignal.timeout(5000),
  });
  killed.app.reason = 'OOMKilled';
  assert.equal(await killed.reason(), 'Error');
});
