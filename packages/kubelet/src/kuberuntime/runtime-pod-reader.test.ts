import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { connectCri, createCriServer } from '@podwright/cri';
import { FakeRuntime } from '@podwright/cri/testing';
import type { Container, Pod } from '../api/types.ts';
import { containerAnnotations, containerLabels, sandboxLabels } from './labels.ts';
import { RuntimePodReader } from './runtime-pod-reader.ts';
import { SandboxNetworks } from './sandbox-networks.ts';

const app: Container = { name: 'app', image: 'busybox:1' };
const metadata = { name: 'web', namespace: 'default', uid: 'u1' };
const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [app] } };

test('listings between which nothing happens are one, and what has changed is in the next', async (context) => {
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
  const stateOf = (pods: Awaited<ReturnType<RuntimePodReader['listPods']>>) => pods.get('u1')?.containers[0]?.state;
  const first = await reader.listPods();
  assert.equal(stateOf(first), 'running');
  assert.equal(await reader.listPods(), first);
  runtime.exitContainer(containerId, { exitCode: 7 });
  assert.equal(stateOf(await reader.listPods()), 'exited');
  await cri.runtime.removePodSandbox({ podSandboxId });
  assert.equal((await reader.listPods()).size, 0);
});
