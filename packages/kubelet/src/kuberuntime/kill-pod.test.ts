import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodwrightError, waitFor } from '@podwright/base';
import { ContainerState } from '@podwright/cri';
import type { FakeRuntime } from '@podwright/cri/testing';
import type { Container, Pod } from '@podwright/kube-api';
import { podIdentity } from '../kubecontainer/pod-identity.ts';
import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import { failureText } from '../kubecontainer/sync-result.ts';
import { marked } from '../pod/deletion.ts';
import { orphanPod } from '../pod/orphan-pod.ts';
import { fakeDependencies, fakeRuntime } from './dependencies.fixture.ts';
import { killPod } from './kill-pod.ts';
import { containerAnnotations, containerLabels, sandboxLabels } from './labels.ts';
import { RuntimePodReader } from './runtime-pod-reader.ts';
import { SandboxNetworks } from './sandbox-networks.ts';

const sidecar = (name: string): Container => ({ name, image: 'busybox:1', restartPolicy: 'Always' });
const web: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', uid: 'u1' },
  spec: {
    initContainers: [sidecar('one'), sidecar('two')],
    containers: [
      { name: 'app', image: 'busybox:1' },
      { name: 'log', image: 'busybox:1' },
    ],
    terminationGracePeriodSeconds: 60,
  },
};

/** A running pod with containers of every type. */
async function start(pod = web): Promise<{ runtime: FakeRuntime; status: RuntimePodStatus; stopped: () => string[] }> {
  const runtime = fakeRuntime();
  const { runtime: cri } = runtime.client;
  const sandboxConfig = { metadata: { ...pod.metadata, attempt: 0 }, labels: sandboxLabels(pod, 'k') };
  const { podSandboxId } = await cri.runPodSandbox({ config: sandboxConfig });
  for (const container of [...pod.spec.initContainers!, ...pod.spec.containers]) {
    const config = {
      metadata: { name: container.name, attempt: 0 },
      image: { image: container.image },
      labels: containerLabels(pod, container, 'k'),
      annotations: containerAnnotations(pod, container, 0),
    };
    const { containerId } = await cri.createContainer({ podSandboxId, config, sandboxConfig });
    await cri.startContainer({ containerId });
  }
  const networks = new SandboxNetworks(runtime.client);
  const reader = new RuntimePodReader({ cri: runtime.client, networks, kubeletId: 'k', runtimeName: 'fake' });
  const status = await reader.podStatus(podIdentity(pod));
  const nameOf = (id: string) => runtime.containers.find((one) => one.id === id)?.config.metadata?.name ?? id;
  const stopped = () =>
    runtime.calls
      .filter(({ method }) => /^stop/.test(method))
      .map(({ request }) => ('containerId' in request ? nameOf(String(request.containerId)) : 'sandbox'));
  return { runtime, status, stopped };
}

const until = (holds: () => boolean) =>
  waitFor(() => holds() || undefined, { intervalMs: 1, signal: AbortSignal.timeout(3000) });

test('containers are stopped concurrently, then sidecars in reverse order, then the sandbox', async () => {
  const { runtime, status, stopped } = await start();
  const steps = await killPod(fakeDependencies(runtime, '/none'), { pod: web, status }, AbortSignal.timeout(5000));
  assert.deepEqual([...stopped().slice(0, 2).sort(), ...stopped().slice(2)], ['app', 'log', 'two', 'one', 'sandbox']);
  assert.ok(steps.every(({ error }) => error === undefined));
  assert.ok(runtime.containers.every(({ state }) => state === ContainerState.CONTAINER_EXITED));
});

test('a pod that left its source is stopped in the same order, as recorded by its containers', async () => {
  const { runtime, status, stopped } = await start();
  const request = { pod: orphanPod(status), status };
  await killPod(fakeDependencies(runtime, '/none'), request, AbortSignal.timeout(5000));
  assert.deepEqual([...stopped().slice(0, 2).sort(), ...stopped().slice(2)], ['app', 'log', 'two', 'one', 'sandbox']);
});

test('a grace period beyond the range of timers and dates is clamped to 68 years', async () => {
  const pod = { ...web, spec: { ...web.spec, terminationGracePeriodSeconds: 2 ** 63 - 1024 } };
  const { runtime, status } = await start(pod);
  await killPod(fakeDependencies(runtime, '/none'), { pod, status }, AbortSignal.timeout(5000));
  const stops = runtime.calls.filter(({ method }) => method === 'stopContainer');
  const timeouts = stops.map(({ request }) => 'timeout' in request && request.timeout);
  assert.deepEqual(timeouts, Array(4).fill(2n ** 31n - 1n));
  const { deletionTimestamp } = marked(pod, {}).metadata;
  assert.equal(Math.round((Date.parse(deletionTimestamp!) - Date.now()) / 60_000), Math.round((2 ** 31 - 1) / 60));
});

test('a container that does not stop does not block the others, but the sandbox stays', async () => {
  const { runtime, status, stopped } = await start();
  runtime.inject('stopContainer', { error: new PodwrightError('unavailable', 'away'), times: 1 });
  const steps = await killPod(fakeDependencies(runtime, '/none'), { pod: web, status }, AbortSignal.timeout(5000));
  const why = 'KillContainerError: "rpc error: code = Unavailable desc = away"';
  assert.match(failureText(steps), new RegExp(`^failed to "KillContainer" for "(app|log)" with ${why}$`));
  assert.equal(stopped().includes('sandbox'), false);
  assert.equal(stopped().length, 4);
});

test('a sidecar waits for the containers before it for at most its grace period', async () => {
  const { runtime, status, stopped } = await start();
  runtime.inject('stopContainer', { delayMs: 60_000, times: 2 });
  const stop = new AbortController();
  const request = { pod: web, status, gracePeriodSeconds: 1 };
  const killing = killPod(fakeDependencies(runtime, '/none'), request, stop.signal);
  await until(() => stopped().length === 4);
  stop.abort(new Error('a quicker stop'));
  await assert.rejects(killing, { message: 'a quicker stop' });
});

const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

test('a sidecar does not wait for a running init container', async () => {
  const pod: Pod = {
    ...web,
    spec: { ...web.spec, initContainers: [sidecar('one'), { name: 'prepare', image: 'busybox:1' }], containers: [] },
  };
  const { runtime, status, stopped } = await start(pod);
  runtime.inject('stopContainer', { delayMs: 60_000 });
  const stop = new AbortController();
  const killing = killPod(fakeDependencies(runtime, '/none'), { pod, status }, stop.signal);
  await until(() => stopped().length === 2);
  stop.abort(new Error('seen'));
  await assert.rejects(killing, { message: 'seen' });
});

test('an abort ends a sidecar’s wait for the containers before it', async () => {
  const before = timers();
  const { runtime, status, stopped } = await start();
  runtime.inject('stopContainer', { delayMs: 60_000 });
  const stop = new AbortController();
  const killing = killPod(fakeDependencies(runtime, '/none'), { pod: web, status }, stop.signal);
  await until(() => stopped().length === 2);
  stop.abort(new Error('a quicker stop'));
  await assert.rejects(killing, { message: 'a quicker stop' });
  assert.equal(stopped().length, 2, 'an aborted kill stops no sidecar');
  assert.equal(timers(), before);
});
