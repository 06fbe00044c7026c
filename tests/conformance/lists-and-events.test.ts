/** Streamed lists, metrics and events of Podwright's runtime: large lists and slow clients lose nothing. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { waitFor } from '@podwright/base';
import { type ContainerEventResponse, ContainerEventType, MetricType, type PodSandboxMetrics } from '@podwright/cri';
import { createIn, runPod, startIn, untilExited } from './pods.fixture.ts';
import { openers, type RuntimeToCompare } from './runtimes.fixture.ts';

const sleeper = 'exec sleep 1000';
const patience = () => ({ intervalMs: 50, signal: AbortSignal.timeout(60_000) });

let runtime: RuntimeToCompare;
before(async () => {
  runtime = await openers('none').ours();
});
after(() => runtime?.end());

/** Subscribes to events; once resolved, no later event can be missed. */
async function subscribe(signal: AbortSignal): Promise<AsyncIterator<ContainerEventResponse>> {
  const events = runtime.cri.runtime.getContainerEvents({}, { signal });
  await runtime.cri.runtime.version({}); // a later call on the same connection: once it is answered, the subscription is active
  return events[Symbol.asyncIterator]();
}

/** Reads events up to the one of this type and ID; returns all of them as text. */
async function readUntil(events: AsyncIterator<ContainerEventResponse>, last: { id: string; kind: string }) {
  const read: string[] = [];
  for (;;) {
    const { value, done } = await events.next();
    if (done) throw new Error('the events ended');
    const kind = ContainerEventType[value.containerEventType].split('_')[1]!.toLowerCase();
    read.push(`${kind} ${value.containerId}`);
    if (value.containerId === last.id && kind === last.kind) return read;
  }
}

async function gather<T, I>(stream: AsyncIterable<T>, itemsOf: (message: T) => I[]) {
  const messages: I[][] = [];
  for await (const message of stream) messages.push(itemsOf(message));
  return { messages: messages.length, items: messages.flat() };
}

suite('events', { timeout: 180_000 }, () => {
  test('ten readers and a slow one get the same events in the same order', async () => {
    const leave = new AbortController();
    const readers = await Promise.all(Array.from({ length: 10 }, () => subscribe(leave.signal)));
    const slow = await subscribe(leave.signal);
    const pod = await runPod(runtime, 'watched');
    const ids: string[] = [];
    for (let index = 0; index < 40; index++)
      ids.push(await createIn(runtime, pod, { name: `n${index}`, script: sleeper }));
    const { podSandboxId } = pod;
    const last = { id: podSandboxId, kind: 'deleted' };
    const read = Promise.all(readers.map((reader) => readUntil(reader, last)));
    await runtime.cri.runtime.removePodSandbox({ podSandboxId });
    const [first, ...others] = await read;
    assert.deepEqual(first!.slice(0, 42), [
      `created ${podSandboxId}`,
      `started ${podSandboxId}`,
      ...ids.map((id) => `created ${id}`),
    ]);
    assert.deepEqual(first!.filter((line) => line.startsWith('deleted')).length, 41);
    for (const other of others) assert.deepEqual(other, first);
    assert.deepEqual(await readUntil(slow, last), first, 'late, but complete');
    leave.abort();
  });

  test('a change between subscribing and listing appears in one of them', async () => {
    const pod = await runPod(runtime, 'between');
    const ids: string[] = [];
    const count = 30;
    const busy = (async () => {
      for (let index = 0; index < count; index++)
        ids.push(await createIn(runtime, pod, { name: `b${index}`, script: sleeper }));
    })();
    for (let round = 0; round < 5; round++) {
      const leave = new AbortController();
      await waitFor(() => (ids.length >= round * 5 ? true : undefined), patience());
      const events = await subscribe(leave.signal);
      const { containers } = await runtime.cri.runtime.listContainers({});
      const known = new Set(containers.map(({ id }) => id));
      const upTo = Math.min(ids.length + 2, count);
      await waitFor(() => (ids.length >= upTo ? true : undefined), patience());
      const last = ids[upTo - 1]!;
      if (!known.has(last)) {
        for (const line of await readUntil(events, { id: last, kind: 'created' })) known.add(line.split(' ')[1]!);
      }
      assert.deepEqual(
        ids.slice(0, upTo).filter((id) => !known.has(id)),
        [],
      );
      leave.abort();
    }
    await busy;
    await runtime.cri.runtime.removePodSandbox({ podSandboxId: pod.podSandboxId });
  });

  test('an event has the pod status at its time', async () => {
    const leave = new AbortController();
    const events = await subscribe(leave.signal);
    const pod = await runPod(runtime, 'reported');
    const id = await startIn(runtime, pod, { name: 'short', script: 'exit 3' });
    await untilExited(runtime, id);
    const states: string[] = [];
    for (;;) {
      const { value } = await events.next();
      const [status] = value.containersStatuses;
      states.push(`${ContainerEventType[value.containerEventType]} ${status?.state ?? '-'} ${status?.exitCode ?? '-'}`);
      if (value.containerEventType === ContainerEventType.CONTAINER_STOPPED_EVENT) break;
    }
    assert.deepEqual(states, [
      'CONTAINER_CREATED_EVENT - -',
      'CONTAINER_STARTED_EVENT - -',
      'CONTAINER_CREATED_EVENT 0 0',
      'CONTAINER_STARTED_EVENT 1 0',
      'CONTAINER_STOPPED_EVENT 2 3',
    ]);
    leave.abort();
    await runtime.cri.runtime.removePodSandbox({ podSandboxId: pod.podSandboxId });
  });
});

suite('lists', { timeout: 180_000 }, () => {
  test('a list larger than a message is rejected with advice, and streamed completely', async () => {
    const pod = await runPod(runtime, 'long');
    const annotations = { note: 'x'.repeat(1 << 20) };
    const ids = [];
    for (let index = 0; index < 17; index++)
      ids.push(await createIn(runtime, pod, { name: `l${index}`, script: sleeper, annotations }));
    const { cri } = runtime;
    const refused = { code: 'resource_exhausted', message: /use its streaming call/ };
    await assert.rejects(cri.runtime.listContainers({}), refused);
    const filter = { podSandboxId: pod.podSandboxId };
    const { messages, items } = await gather(cri.runtime.streamContainers({ filter }), ({ containers }) => containers);
    assert.deepEqual(
      items.map(({ id }) => id),
      ids,
    );
    assert.equal(messages, 17);
    await cri.runtime.removePodSandbox({ podSandboxId: pod.podSandboxId });
  });

  test('streamed lists have the same items as the other lists', async () => {
    const pod = await runPod(runtime, 'streamed');
    const id = await startIn(runtime, pod, { name: 'one', script: sleeper });
    const { runtime: cri, image } = runtime.cri;
    const idsOf = (list: { attributes?: { id: string } | undefined }[]) => list.map(({ attributes }) => attributes?.id);
    const filter = { id: pod.podSandboxId };
    const pods = await gather(cri.streamPodSandboxes({ filter }), ({ podSandboxes }) => podSandboxes);
    assert.deepEqual(pods.items, (await cri.listPodSandbox({ filter })).items);
    const containers = await gather(cri.streamContainers({}), (message) => message.containers);
    assert.deepEqual(containers.items, (await cri.listContainers({})).containers);
    const stats = await gather(cri.streamContainerStats({}), ({ containerStats }) => containerStats);
    assert.deepEqual(idsOf(stats.items), [id]);
    const podStats = await gather(cri.streamPodSandboxStats({ filter }), ({ podSandboxStats }) => podSandboxStats);
    assert.deepEqual(idsOf(podStats.items), [pod.podSandboxId]);
    const images = await gather(image.streamImages({}), (message) => message.images);
    assert.deepEqual(images.items, (await image.listImages({})).images);
    const none = await gather(
      cri.streamContainers({ filter: { id: 'f'.repeat(64) } }),
      (message) => message.containers,
    );
    assert.deepEqual(none, { messages: 1, items: [] });
    await cri.removePodSandbox({ podSandboxId: pod.podSandboxId });
  });

  test('metrics of a pod and its containers have the labels in their descriptors', async () => {
    const pod = await runPod(runtime, 'measured');
    const containerId = await startIn(runtime, pod, { name: 'main', script: sleeper });
    const { cri } = runtime;
    const { descriptors } = await cri.runtime.listMetricDescriptors({});
    const keys = new Map(descriptors.map(({ name, labelKeys }) => [name, labelKeys]));
    const { podMetrics } = await cri.runtime.listPodSandboxMetrics({});
    const streamed = await gather(cri.runtime.streamPodSandboxMetrics({}), (message) => message.podSandboxMetrics);
    assert.deepEqual(streamed.items.map(subjectsOf), podMetrics.map(subjectsOf));
    const own = podMetrics.find(({ podSandboxId }) => podSandboxId === pod.podSandboxId)!;
    for (const { name, labelValues } of allOf(own)) assert.equal(labelValues.length, keys.get(name)?.length, name);
    const [container] = own.containerMetrics;
    assert.equal(container?.containerId, containerId);
    const memory = container!.metrics.find(({ name }) => name === 'container_memory_working_set_bytes')!;
    const labels = Object.fromEntries(keys.get(memory.name)!.map((key, index) => [key, memory.labelValues[index]]));
    assert.ok(labels.id?.endsWith(containerId));
    assert.deepEqual(
      { ...labels, id: '' },
      {
        container: 'main',
        id: '',
        image: runtime.image,
        name: containerId,
        namespace: 'default',
        pod: 'measured',
      },
    );
    assert.equal(memory.metricType, MetricType.GAUGE);
    assert.ok((memory.value?.value ?? 0n) > 0n);
    const received = own.metrics.find(({ name }) => name === 'container_network_receive_bytes_total');
    assert.equal(received?.labelValues.at(-1), 'eth0');
    await cri.runtime.removePodSandbox({ podSandboxId: pod.podSandboxId });
  });

  test('the resources of a pod are recorded, and shown in verbose status', async () => {
    const pod = await runPod(runtime, 'resized');
    const { podSandboxId } = pod;
    const { cri } = runtime;
    const resources = { cpuShares: 512n, memoryLimitInBytes: 1n << 26n };
    await cri.runtime.updatePodSandboxResources({ podSandboxId, overhead: { cpuShares: 2n }, resources });
    const { info } = await cri.runtime.podSandboxStatus({ podSandboxId, verbose: true });
    const { record } = JSON.parse(info.info!) as { record: { resources: Record<string, Record<string, unknown>> } };
    assert.equal(record.resources.overhead?.cpuShares, 2);
    assert.equal(record.resources.containers?.memoryLimitBytes, 1 << 26);
    await cri.runtime.removePodSandbox({ podSandboxId });
  });
});

const allOf = ({ metrics, containerMetrics }: PodSandboxMetrics) => [
  ...metrics,
  ...containerMetrics.flatMap((container) => container.metrics),
];
/**
 * Returns the IDs of the pod and the containers with metrics. The metrics themselves vary from call to call: devices appear once they are
 * used.
 */
const subjectsOf = ({ podSandboxId, containerMetrics }: PodSandboxMetrics) => [
  podSandboxId,
  ...containerMetrics.map(({ containerId }) => containerId),
];
