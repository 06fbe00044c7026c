import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Broadcast, PodwrightError, silentLogger, sleep, waitFor } from '@podwright/base';
import {
  type ContainerEventResponse,
  ContainerEventResponseSchema,
  ContainerEventType,
  type CriClient,
  create,
} from '@podwright/cri';
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

/** The runtime's events: its own, none as of containerd 1.6, or what a test sends. */
type Events = 'own' | 'none' | Broadcast<ContainerEventResponse>;

function clientWith(runtime: FakeRuntime, events: Events): CriClient {
  if (events === 'own') return runtime.client;
  const unimplemented = new PodwrightError('unimplemented', 'no events here');
  // biome-ignore lint/correctness/useYield: a stream that fails before its first value
  const none = async function* () {
    throw unimplemented;
  };
  const sent = (_request: object, { signal }: { signal: AbortSignal }) =>
    (events as Broadcast<ContainerEventResponse>).subscribe(signal);
  const getContainerEvents = events === 'none' ? none : sent;
  return { ...runtime.client, runtime: { ...runtime.client.runtime, getContainerEvents: getContainerEvents as never } };
}

/** A PLEG on a runtime in memory. */
async function start(context: TestContext, events: Events) {
  const runtime = new FakeRuntime({ images: ['busybox:1'] });
  const cri = clientWith(runtime, events);
  const cache = new PodStatusCache();
  let changes = 0;
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
    onChange: () => changes++,
  });
  await pleg.start();
  context.after(() => pleg.stop());
  const stateOf = (name: string) => cache.get('u1')?.status.containers.find((one) => one.name === name)?.state;
  const until = (state: string | undefined) =>
    waitFor(() => stateOf('app') === state || undefined, { intervalMs: 1, signal: AbortSignal.timeout(3000) });
  const reads = () => runtime.calls.filter(({ method }) => /^list|Status$/.test(method)).length;
  return { runtime, pleg, cache, changes: () => changes, until, reads };
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

for (const events of ['own', 'none'] as const) {
  const how = events === 'own' ? 'by the events of the runtime' : 'by listing';
  test(`starts and ends of containers are noticed ${how}`, async (context) => {
    const { runtime, cache, until, changes } = await start(context, events);
    const id = await runApp(runtime);
    await until('running');
    const before = changes();
    runtime.exitContainer(id, { exitCode: 7 });
    await until('exited');
    assert.equal(cache.get('u1')!.status.containers[0]!.exitCode, 7);
    assert.equal(changes(), before + 1);
  });

  test(`a pod that is gone is noticed ${how}`, async (context) => {
    const { runtime, cache, until } = await start(context, events);
    await runApp(runtime);
    await until('running');
    await runtime.client.runtime.removePodSandbox({ podSandboxId: runtime.sandboxes[0]!.id });
    await until(undefined);
    await waitFor(() => cache.get('u1') === undefined || undefined, {
      intervalMs: 1,
      signal: AbortSignal.timeout(3000),
    });
  });
}

test('what an event tells is not asked for again', async (context) => {
  const { runtime, until, reads, cache } = await start(context, 'own');
  const foreign = { metadata: { ...metadata, attempt: 0 }, labels: sandboxLabels(pod, 'another') };
  await runtime.client.runtime.runPodSandbox({ config: foreign });
  await sleep(50); // the first event of a stream has all pods listed once
  const before = reads();
  const id = await runApp(runtime);
  await until('running');
  assert.equal(cache.get('u1')!.status.sandboxes[0]!.ips.length, 1);
  runtime.exitContainer(id, { exitCode: 7 });
  await until('exited');
  assert.equal(reads(), before);
});

test('an event that may be older than what was seen is no more than a reason to look', async (context) => {
  const sent = new Broadcast<ContainerEventResponse>();
  const { runtime, pleg, until, reads, cache } = await start(context, sent);
  const id = await runApp(runtime);
  const told = await runtime.client.runtime.podSandboxStatus({ podSandboxId: runtime.sandboxes[0]!.id });
  runtime.exitContainer(id, { exitCode: 7 });
  await pleg.look(podIdentity(pod));
  const before = reads();
  const containerEventType = ContainerEventType.CONTAINER_STARTED_EVENT;
  const event = { containerId: id, containerEventType, containersStatuses: told.containersStatuses };
  for (const createdAtMs of [Date.now() - 1000, Date.now() + 1000, 0]) {
    const createdAt = BigInt(createdAtMs) * 1_000_000n;
    sent.publish(create(ContainerEventResponseSchema, { ...event, createdAt, podSandboxStatus: told.status }));
  }
  await waitFor(() => reads() > before || undefined, { intervalMs: 1, signal: AbortSignal.timeout(3000) });
  await until('exited');
  assert.equal(cache.get('u1')!.status.containers[0]!.exitCode, 7);
});

test('an event that does not tell what it is about is a reason to look, and one of another kubelet is none', async (context) => {
  const sent = new Broadcast<ContainerEventResponse>();
  const { runtime, until, reads } = await start(context, sent);
  sent.publish(create(ContainerEventResponseSchema, { containerId: 'x' }));
  await sleep(50); // the first event of a stream has all pods listed once
  const id = await runApp(runtime);
  const { status } = await runtime.client.runtime.podSandboxStatus({ podSandboxId: runtime.sandboxes[0]!.id });
  const before = reads();
  const event = { containerId: id, createdAt: BigInt(Date.now()) * 1_000_000n };
  const foreign = { ...status!, labels: sandboxLabels(pod, 'another') };
  sent.publish(create(ContainerEventResponseSchema, { ...event, podSandboxStatus: foreign }));
  sent.publish(create(ContainerEventResponseSchema, { ...event, podSandboxStatus: status }));
  await until('running');
  const looks = runtime.calls.slice(-(reads() - before)).map(({ method }) => method);
  assert.deepEqual(looks.sort(), ['containerStatus', 'listContainers', 'listPodSandbox', 'podSandboxStatus']);
});

test('what happened while no stream of events stood is found at once, not after the period of listings', async (context) => {
  const sent = new Broadcast<ContainerEventResponse>();
  const { runtime, until } = await start(context, sent);
  const id = await runApp(runtime);
  const { status } = await runtime.client.runtime.podSandboxStatus({ podSandboxId: runtime.sandboxes[0]!.id });
  const event = { containerId: id, createdAt: BigInt(Date.now()) * 1_000_000n, podSandboxStatus: status };
  sent.publish(create(ContainerEventResponseSchema, event));
  await until('running');
  await sleep(50); // from here on the next listing is a minute away
  for (let index = 0; index <= 10_000; index++)
    sent.publish(create(ContainerEventResponseSchema, { containerId: 'x' }));
  runtime.exitContainer(id, { exitCode: 7 });
  await until('exited');
});

test('a pod that cannot be read keeps its record, so that its change is not missed', async (context) => {
  const { runtime, until, changes } = await start(context, 'none');
  const id = await runApp(runtime);
  await until('running');
  const before = changes();
  runtime.inject('containerStatus', { error: new PodwrightError('unavailable', 'away'), times: 3 });
  runtime.exitContainer(id, { exitCode: 0 });
  await until('exited');
  assert.equal(changes(), before + 1);
});

test('a pod that is wanted newer than it was seen is looked at, not waited for', async (context) => {
  const { runtime, pleg } = await start(context, 'own');
  await runApp(runtime);
  const status = await pleg.getNewerThan(podIdentity(pod), performance.now());
  assert.equal(status.containers[0]!.state, 'running');
  const calls = runtime.calls.length;
  assert.equal(await pleg.getNewerThan(podIdentity(pod), 0), await pleg.getNewerThan(podIdentity(pod), 0));
  assert.equal(runtime.calls.length, calls);
});

test('looks at one pod that come at once are served by two', async (context) => {
  const { runtime, pleg } = await start(context, 'none');
  await runApp(runtime);
  await pleg.look(podIdentity(pod));
  const before = runtime.calls.filter(({ method }) => method === 'containerStatus').length;
  await Promise.all(Array.from({ length: 10 }, () => pleg.look(podIdentity(pod))));
  const looks = runtime.calls.filter(({ method }) => method === 'containerStatus').length - before;
  assert.equal(looks, 2);
});

test('a pod that was listed but could not be read is not taken for absent', async (context) => {
  const { runtime, pleg } = await start(context, 'none');
  runtime.inject('podSandboxStatus', { error: new PodwrightError('unavailable', 'away'), times: 1e6 });
  await runApp(runtime);
  await pleg.relist();
  await assert.rejects(pleg.getNewerThan(podIdentity(pod), 0), { code: 'unavailable' });
});
