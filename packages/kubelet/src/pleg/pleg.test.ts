import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Broadcast, PodwrightError, Registry, silentLogger, sleep, waitFor } from '@podwright/base';
import {
  type ContainerEventResponse,
  ContainerEventResponseSchema,
  ContainerEventType,
  type CriClient,
  create,
} from '@podwright/cri';
import { FakeRuntime } from '@podwright/cri/testing';
import type { Container, Pod } from '@podwright/kube-api';
import { podIdentity } from '../kubecontainer/pod-identity.ts';
import { containerAnnotations, containerLabels, sandboxLabels } from '../kuberuntime/labels.ts';
import { RuntimePodReader } from '../kuberuntime/runtime-pod-reader.ts';
import { SandboxNetworks } from '../kuberuntime/sandbox-networks.ts';
import { Pleg } from './pleg.ts';
import { PodStatusCache } from './pod-status-cache.ts';

const app: Container = { name: 'app', image: 'busybox:1' };
const podMetadata = { name: 'web', namespace: 'default', uid: 'u1' };
const ownPod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: podMetadata, spec: { containers: [app] } };

/** Source of events: the fake runtime's own, none (as with containerd 1.6), or events that the test publishes. */
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

/** Starts a PLEG on a fake, in-memory container runtime. */
async function start(context: TestContext, events: Events, relistPeriodMs = 20) {
  const runtime = new FakeRuntime({ images: ['busybox:1'] });
  const cri = clientWith(runtime, events);
  const cache = new PodStatusCache();
  let changes = 0;
  const listing: boolean[] = [];
  const metrics = new Registry();
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
    metrics,
    relistPeriodMs,
    eventedRelistPeriodMs: 60_000,
    onChange: () => changes++,
    onListing: (works) => listing.push(works),
  });
  await pleg.start();
  context.after(() => pleg.stop());
  const stateOf = (name: string) => cache.get('u1')?.status.containers.find((one) => one.name === name)?.state;
  const until = (state: string | undefined) =>
    waitFor(() => stateOf('app') === state || undefined, { intervalMs: 1, signal: AbortSignal.timeout(3000) });
  const reads = () => runtime.calls.filter(({ method }) => /^list|Status$/.test(method)).length;
  return { runtime, pleg, cache, changes: () => changes, listing, until, reads, metrics };
}

async function runApp(runtime: FakeRuntime, uid = 'u1'): Promise<string> {
  const metadata = { ...podMetadata, uid };
  const pod: Pod = { ...ownPod, metadata };
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
  test(`starts and exits of containers are detected ${how}`, async (context) => {
    const { runtime, cache, until, changes } = await start(context, events);
    const id = await runApp(runtime);
    await until('running');
    const before = changes();
    runtime.exitContainer(id, { exitCode: 7 });
    await until('exited');
    assert.equal(cache.get('u1')!.status.containers[0]!.exitCode, 7);
    assert.equal(changes(), before + 1);
  });

  test(`the removal of a pod is detected ${how}`, async (context) => {
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

test('a status included in an event is not queried again', async (context) => {
  const { runtime, until, reads, cache } = await start(context, 'own');
  const foreign = { metadata: { ...podMetadata, attempt: 0 }, labels: sandboxLabels(ownPod, 'another') };
  await runtime.client.runtime.runPodSandbox({ config: foreign });
  await sleep(50); // the first event of a stream causes one listing of all pods
  const before = reads();
  const id = await runApp(runtime);
  await until('running');
  assert.equal(cache.get('u1')!.status.sandboxes[0]!.ips.length, 1);
  runtime.exitContainer(id, { exitCode: 7 });
  await until('exited');
  assert.equal(reads(), before);
});

test('an event that may be older than the cached status only triggers a query', async (context) => {
  const sent = new Broadcast<ContainerEventResponse>();
  const { runtime, pleg, until, reads, cache } = await start(context, sent);
  const id = await runApp(runtime);
  const old = await runtime.client.runtime.podSandboxStatus({ podSandboxId: runtime.sandboxes[0]!.id });
  runtime.exitContainer(id, { exitCode: 7 });
  await pleg.updateCache(podIdentity(ownPod));
  const before = reads();
  const containerEventType = ContainerEventType.CONTAINER_STARTED_EVENT;
  const event = { containerId: id, containerEventType, containersStatuses: old.containersStatuses };
  for (const createdAtMs of [Date.now() - 1000, Date.now() + 1000, 0]) {
    const createdAt = BigInt(createdAtMs) * 1_000_000n;
    sent.publish(create(ContainerEventResponseSchema, { ...event, createdAt, podSandboxStatus: old.status }));
  }
  await waitFor(() => reads() > before || undefined, { intervalMs: 1, signal: AbortSignal.timeout(3000) });
  await until('exited');
  assert.equal(cache.get('u1')!.status.containers[0]!.exitCode, 7);
});

test('an event without a status triggers a query, and an event of another kubelet does not', async (context) => {
  const sent = new Broadcast<ContainerEventResponse>();
  const { runtime, until, reads } = await start(context, sent);
  sent.publish(create(ContainerEventResponseSchema, { containerId: 'x' }));
  await sleep(50); // the first event of a stream causes one listing of all pods
  const id = await runApp(runtime);
  const { status } = await runtime.client.runtime.podSandboxStatus({ podSandboxId: runtime.sandboxes[0]!.id });
  const before = reads();
  const event = { containerId: id, createdAt: BigInt(Date.now()) * 1_000_000n };
  const foreign = { ...status!, labels: sandboxLabels(ownPod, 'another') };
  sent.publish(create(ContainerEventResponseSchema, { ...event, podSandboxStatus: foreign }));
  sent.publish(create(ContainerEventResponseSchema, { ...event, podSandboxStatus: status }));
  await until('running');
  const looks = runtime.calls.slice(-(reads() - before)).map(({ method }) => method);
  assert.deepEqual(looks.sort(), ['containerStatus', 'listContainers', 'listPodSandbox', 'podSandboxStatus']);
});

test('changes during an event stream interruption are detected immediately', async (context) => {
  const sent = new Broadcast<ContainerEventResponse>();
  const { runtime, until } = await start(context, sent);
  const id = await runApp(runtime);
  const { status } = await runtime.client.runtime.podSandboxStatus({ podSandboxId: runtime.sandboxes[0]!.id });
  const event = { containerId: id, createdAt: BigInt(Date.now()) * 1_000_000n, podSandboxStatus: status };
  sent.publish(create(ContainerEventResponseSchema, event));
  await until('running');
  await sleep(50); // from here on, the next listing is a minute away
  for (let index = 0; index <= 10_000; index++)
    sent.publish(create(ContainerEventResponseSchema, { containerId: 'x' }));
  runtime.exitContainer(id, { exitCode: 7 });
  await until('exited');
});

test('a late OOMKilled reason is reported, even if nothing else happens', async (context) => {
  const { runtime, cache, changes, until } = await start(context, 'own');
  const id = await runApp(runtime);
  await until('running');
  runtime.exitContainer(id, { exitCode: 137 });
  await until('exited');
  const before = changes();
  runtime.containerNamed('app').reason = 'OOMKilled';
  await waitFor(() => changes() > before || undefined, { intervalMs: 10, signal: AbortSignal.timeout(5000) });
  assert.equal(cache.get('u1')?.status.containers[0]?.reason, 'OOMKilled');
});

test('a change to an unreadable pod is not missed', async (context) => {
  const { runtime, until, changes } = await start(context, 'none');
  const id = await runApp(runtime);
  await until('running');
  const before = changes();
  runtime.inject('containerStatus', { error: new PodwrightError('unavailable', 'away'), times: 3 });
  runtime.exitContainer(id, { exitCode: 0 });
  await until('exited');
  assert.equal(changes(), before + 1);
});

test('getNewerThan reads the pod immediately if the cached status is too old', async (context) => {
  const { runtime, pleg } = await start(context, 'own');
  await runApp(runtime);
  const status = await pleg.getNewerThan(podIdentity(ownPod), performance.now());
  assert.equal(status.containers[0]!.state, 'running');
  const calls = runtime.calls.length;
  assert.equal(await pleg.getNewerThan(podIdentity(ownPod), 0), await pleg.getNewerThan(podIdentity(ownPod), 0));
  assert.equal(runtime.calls.length, calls);
});

test('concurrent requests for one pod cause at most two queries', async (context) => {
  const { runtime, pleg } = await start(context, 'none');
  await runApp(runtime);
  await pleg.updateCache(podIdentity(ownPod));
  const before = runtime.calls.filter(({ method }) => method === 'containerStatus').length;
  await Promise.all(Array.from({ length: 10 }, () => pleg.updateCache(podIdentity(ownPod))));
  const looks = runtime.calls.filter(({ method }) => method === 'containerStatus').length - before;
  assert.equal(looks, 2);
});

test('a listed pod that could not be queried does not count as absent', async (context) => {
  const { runtime, pleg } = await start(context, 'none');
  runtime.inject('podSandboxStatus', { error: new PodwrightError('unavailable', 'away'), times: 1e6 });
  await runApp(runtime);
  await pleg.relist();
  await assert.rejects(pleg.getNewerThan(podIdentity(ownPod), 0), { code: 'unavailable' });
});

test('listedPods omits pods removed after the last listing', async (context) => {
  const { runtime, pleg, until } = await start(context, 'own');
  await runApp(runtime);
  await pleg.relist();
  await until('running');
  const listed = () => pleg.listedPods().map(({ uid }) => uid);
  assert.deepEqual(listed(), ['u1']);
  await runtime.client.runtime.removePodSandbox({ podSandboxId: runtime.sandboxes[0]!.id });
  await pleg.updateCache(podIdentity(ownPod));
  assert.deepEqual(listed(), []);
});

test('an unreadable container does not block other pods', async (context) => {
  const { runtime, cache, until } = await start(context, 'none');
  const [hung, other] = [await runApp(runtime), await runApp(runtime, 'u2')];
  await until('running');
  const stateOfOther = () => cache.get('u2')?.status.containers[0]?.state;
  const untilOther = (state: string) =>
    waitFor(() => stateOfOther() === state || undefined, { intervalMs: 1, signal: AbortSignal.timeout(3000) });
  await untilOther('running');
  const statusCalls = () => runtime.calls.filter(({ method }) => method === 'containerStatus').length;
  const before = statusCalls();
  runtime.inject('containerStatus', { delayMs: 60_000, times: 1 });
  runtime.exitContainer(hung, { exitCode: 0 });
  await waitFor(() => statusCalls() > before || undefined, { intervalMs: 1, signal: AbortSignal.timeout(3000) });
  runtime.exitContainer(other, { exitCode: 0 });
  await untilOther('exited');
  assert.equal(cache.get('u1')!.status.containers[0]!.state, 'running');
});

test('listings failing for three minutes are a health problem', async (context) => {
  const { runtime, pleg } = await start(context, 'own');
  assert.equal(pleg.problem(), undefined);
  runtime.inject('listContainers', { error: new PodwrightError('unavailable', 'away') });
  const startedMs = performance.now();
  const clock = context.mock.method(performance, 'now', () => startedMs + 179_000);
  assert.equal(pleg.problem(), undefined);
  clock.mock.mockImplementation(() => startedMs + 185_000);
  await assert.rejects(pleg.relist());
  assert.match(pleg.problem()!, /^pleg was last seen active 3m5[.\d]*s ago; threshold is 3m0s$/);
});

test('failure and recovery of listings are each reported once', async (context) => {
  const { runtime, pleg, listing } = await start(context, 'none');
  assert.deepEqual(listing, []);
  const error = new PodwrightError('unavailable', 'connect ECONNREFUSED');
  runtime.inject('listContainers', { error, times: 2 });
  await waitFor(() => listing.length === 2 || undefined, { intervalMs: 1, signal: AbortSignal.timeout(30_000) });
  await pleg.relist();
  assert.deepEqual(listing, [false, true]);
});

test('a PLEG without any listing yet is unhealthy', (context) => {
  const { client: cri } = new FakeRuntime();
  const reader = new RuntimePodReader({ cri, networks: new SandboxNetworks(cri), kubeletId: 'k', runtimeName: 'fake' });
  const rest = { cache: new PodStatusCache(), logger: silentLogger, relistPeriodMs: 1, eventedRelistPeriodMs: 1 };
  const pleg = new Pleg({ cri, reader, ...rest, onChange: () => undefined, onListing: () => undefined });
  context.after(() => pleg.stop());
  assert.equal(pleg.problem(), 'pleg has yet to be successful');
});

/** Returns the number of relists so far, from the metrics. */
async function listings(metrics: Registry): Promise<number> {
  return Number(/^kubelet_pleg_relist_duration_seconds_count (.*)$/m.exec(await metrics.metrics())?.[1]);
}

test('a runtime that lists pods slowly is listed less often after changes', async (context) => {
  const { runtime, until, metrics } = await start(context, 'none', 60_000);
  const listingMs = 20;
  runtime.inject('listContainers', { delayMs: listingMs });
  await runApp(runtime);
  await until('running');
  const [before, beginMs] = [await listings(metrics), performance.now()];
  await sleep(800);
  const count = (await listings(metrics)) - before;
  assert.ok(count >= 1);
  // the allowance of 2 covers a relist that was already running when the measurement began
  assert.ok(count <= 2 + (performance.now() - beginMs) / (20 * listingMs), `${count}`);
});

test('a change between listings does not delay the next listing by a slow runtime', async (context) => {
  const periodMs = 300;
  const { runtime, pleg, until, metrics } = await start(context, 'none', periodMs);
  runtime.inject('listContainers', { delayMs: 50 });
  await runApp(runtime);
  await until('running');
  const gapsMs: number[] = [];
  for (let round = 0; round < 5; round++) {
    const [count, beginMs] = [await listings(metrics), performance.now()];
    await sleep(periodMs / 2);
    const uid = `new-${round}`;
    await runApp(runtime, uid);
    await pleg.updateCache(podIdentity({ ...ownPod, metadata: { ...podMetadata, uid } }));
    while ((await listings(metrics)) === count) await sleep(1);
    gapsMs.push(performance.now() - beginMs);
  }
  assert.ok(Math.min(...gapsMs) < 1.5 * periodMs, `${gapsMs}`);
});

test('listings, pod queries and events are counted', async (context) => {
  const { runtime, pleg, until, metrics } = await start(context, 'own');
  await runApp(runtime);
  await until('running');
  await pleg.relist();
  await pleg.updateCache(podIdentity(ownPod));
  const text = await metrics.metrics();
  const value = (name: string) => Number(new RegExp(`^kubelet_${name} (.*)$`, 'm').exec(text)?.[1]);
  for (const name of ['pleg_relist_duration', 'pleg_relist_interval', 'pleg_pod_relist_duration'])
    assert.ok(value(`${name}_seconds_count`) >= 1, name);
  assert.ok(Math.abs(value('pleg_last_seen_seconds') - Date.now() / 1000) < 60);
  assert.equal(value('pleg_discard_events'), 0);
  assert.equal(value('evented_pleg_connection_success_count'), 1);
  assert.equal(value('evented_pleg_connection_error_count'), 0);
  assert.ok(value('evented_pleg_connection_latency_seconds_count') >= 3);
});
