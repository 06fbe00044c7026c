import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { PodwrightError, silentLogger, waitFor } from '@podwright/base';
import { FakeRuntime } from '@podwright/cri/testing';
import type { Container, Pod } from '../api/types.ts';
import { podIdentity } from '../kubecontainer/pod-identity.ts';
import { containerAnnotations, containerLabels, sandboxLabels } from '../kuberuntime/labels.ts';
import { RuntimePodReader } from '../kuberuntime/runtime-pod-reader.ts';
import { SandboxNetworks } from '../kuberuntime/sandbox-networks.ts';
import { Pleg } from './pleg.ts';
import { PodStatusCache } from './pod-status-cache.ts';

const app: Container = { name: 'app', image: 'busybox:1' };
const metadata = { name: 'web', namespace: 'default', uid: 'u1' };
const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [app] } };

/** A PLEG on a runtime in memory; without `evented` the runtime has no events, as containerd 1.6. */
async function start(context: TestContext, { evented }: { evented: boolean }) {
  const runtime = new FakeRuntime({ images: ['busybox:1'] });
  const unimplemented = new PodwrightError('unimplemented', 'no events here');
  const cri = evented
    ? runtime.client
    : {
        ...runtime.client,
        runtime: {
          ...runtime.client.runtime,
          // biome-ignore lint/correctness/useYield: a stream that fails before its first value
          getContainerEvents: async function* () {
            throw unimplemented;
          } as never,
        },
      };
  const cache = new PodStatusCache();
  const seen: string[] = [];
  const pleg = new Pleg({
    cri,
    reader: new RuntimePodReader({
      cri,
      networks: new SandboxNetworks(cri),
      kubeletId: 'k',
      runtimeName: 'fake',
    }),
    cache,
    logger: silentLogger,
    relistPeriodMs: 20,
    eventedRelistPeriodMs: 60_000,
    onEvents: (_uid, events) => seen.push(...events.map(({ type }) => type)),
  });
  await pleg.start();
  context.after(() => pleg.stop());
  const until = (type: string) =>
    waitFor(() => seen.includes(type) || undefined, { intervalMs: 1, signal: AbortSignal.timeout(3000) });
  return { runtime, pleg, cache, seen, until };
}

async function runApp(runtime: FakeRuntime): Promise<string> {
  const sandboxConfig = { metadata: { ...metadata, attempt: 0 }, labels: sandboxLabels(pod, 'k') };
  const { podSandboxId } = await runtime.client.runtime.runPodSandbox({ config: sandboxConfig });
  const config = {
    metadata: { name: 'app', attempt: 0 },
    image: { image: 'busybox:1' },
    labels: containerLabels(pod, app, 'k'),
    annotations: containerAnnotations(pod, app, 0),
  };
  const { containerId } = await runtime.client.runtime.createContainer({ podSandboxId, config, sandboxConfig });
  await runtime.client.runtime.startContainer({ containerId });
  return containerId;
}

for (const evented of [false, true]) {
  const how = evented ? 'by the events of the runtime' : 'by listing';
  test(`starts and ends of containers are noticed ${how}`, async (context) => {
    const { runtime, cache, until } = await start(context, { evented });
    const id = await runApp(runtime);
    await until('ContainerStarted');
    assert.equal(cache.get('u1')!.status.containers[0]!.state, 'running');
    runtime.exitContainer(id, { exitCode: 7 });
    await until('ContainerDied');
    assert.equal(cache.get('u1')!.status.containers[0]!.exitCode, 7);
  });
}

test('a pod that cannot be read keeps its record, so that its change is not missed', async (context) => {
  const { runtime, until, seen } = await start(context, { evented: false });
  const id = await runApp(runtime);
  await until('ContainerStarted');
  runtime.inject('containerStatus', { error: new PodwrightError('unavailable', 'away'), times: 3 });
  runtime.exitContainer(id, { exitCode: 0 });
  await until('ContainerDied');
  assert.equal(seen.filter((type) => type === 'ContainerDied').length, 1);
});

test('a pod that is wanted newer than it was seen is looked at, not waited for', async (context) => {
  const { runtime, pleg } = await start(context, { evented: true });
  await runApp(runtime);
  const status = await pleg.getNewerThan(podIdentity(pod), performance.now());
  assert.equal(status.containers[0]!.state, 'running');
  const calls = runtime.calls.length;
  assert.equal(await pleg.getNewerThan(podIdentity(pod), 0), await pleg.getNewerThan(podIdentity(pod), 0));
  assert.equal(runtime.calls.length, calls);
});

test('looks at one pod that come at once are served by two', async (context) => {
  const { runtime, pleg } = await start(context, { evented: false });
  await runApp(runtime);
  await pleg.look(podIdentity(pod));
  const before = runtime.calls.filter(({ method }) => method === 'containerStatus').length;
  await Promise.all(Array.from({ length: 10 }, () => pleg.look(podIdentity(pod))));
  const looks = runtime.calls.filter(({ method }) => method === 'containerStatus').length - before;
  assert.equal(looks, 2);
});

test('a pod that was listed but could not be read is not taken for absent', async (context) => {
  const { runtime, pleg } = await start(context, { evented: false });
  runtime.inject('podSandboxStatus', { error: new PodwrightError('unavailable', 'away'), times: 1e6 });
  await runApp(runtime);
  await pleg.relist();
  await assert.rejects(pleg.getNewerThan(podIdentity(pod), 0), { code: 'unavailable' });
});
