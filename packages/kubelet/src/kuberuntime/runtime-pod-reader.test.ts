import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { silentLogger, sleep } from '@podwright/base';
import { type CriClient, connectCri, createCriServer } from '@podwright/cri';
import { FakeRuntime } from '@podwright/cri/testing';
import type { Container, Pod } from '../api/types.ts';
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

test('listings between which nothing happens are one, and what has changed is in the next', async (context) => {
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

test('what a runtime tells late of why a container ended is in the next status, and ends are not asked for again and again', async (context) => {
  const { runtime, reader, containerId } = await startRuntime(context);
  const reason = async () => (await reader.podStatus(metadata)).containers[0]?.reason;
  const asked = () => runtime.calls.filter(({ method }) => method === 'containerStatus').length;
  runtime.exitContainer(containerId, { exitCode: 137 });
  assert.equal(await reason(), 'Error');
  runtime.containerNamed('app').reason = 'OOMKilled';
  assert.equal(await reason(), 'OOMKilled');
  const once = asked();
  assert.equal(await reason(), 'OOMKilled');
  assert.equal(asked(), once);
});

test('a failure is read until its reason has settled', async (context) => {
  const { runtime, reader, containerId } = await startRuntime(context);
  const asked = () => runtime.calls.filter(({ method }) => method === 'containerStatus').length;
  runtime.exitContainer(containerId, { exitCode: 1 });
  await reader.podStatus(metadata);
  await sleep(1100);
  await reader.podStatus(metadata);
  const settled = asked();
  assert.equal((await reader.podStatus(metadata)).containers[0]?.reason, 'Error');
  assert.equal(asked(), settled);
});
