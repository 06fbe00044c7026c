import assert from 'node:assert/strict';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PodwrightError, silentLogger, sleep, waitFor } from '@podwright/base';
import {
  ContainerState,
  type CriApiVersion,
  type CriClient,
  connectCri,
  createCriServer,
  type RuntimeHandlers,
} from '@podwright/cri';
import { FakeRuntime } from '@podwright/cri/testing';
import { type Endpoint, parseEndpoint } from '@podwright/grpc';
import { startCriProxy } from '../cri-proxy.ts';
import { criMethods } from '../methods/cri-methods.ts';
import { type Recording, readRecording } from '../recording/read-recording.ts';

async function directoryOf(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'podwright-replay-'));
  t.after(() => rm(directory, { recursive: true }));
  return directory;
}

type ClientOptions = { record?: string; apiVersion?: CriApiVersion };

async function clientOf(t: TestContext, to: Endpoint | Recording, { record, apiVersion }: ClientOptions = {}) {
  const socket = join(await directoryOf(t), 'proxy.sock');
  const proxy = await startCriProxy({ socket, to, logger: silentLogger, record });
  t.after(() => proxy.close());
  const cri = await connectCri({ runtimeEndpoint: proxy.endpoint, logger: silentLogger, apiVersion });
  t.after(() => cri.close());
  return { cri, proxy };
}

const sandboxOf = (uid: string) => ({
  metadata: { name: 'web', uid, namespace: 'shop', attempt: 0 },
  labels: { 'io.kubernetes.pod.name': 'web', 'io.kubernetes.pod.namespace': 'shop', 'io.kubernetes.pod.uid': uid },
  logDirectory: `/var/log/pods/shop_web_${uid}`,
});

async function startPod({ runtime, image }: CriClient, uid: string) {
  const config = sandboxOf(uid);
  const { podSandboxId } = await runtime.runPodSandbox({ config });
  const name = { image: 'busybox' };
  if ((await image.imageStatus({ image: name })).image === undefined)
    await image.pullImage({ image: name, sandboxConfig: config });
  const { containerId } = await runtime.createContainer({
    podSandboxId,
    config: { metadata: { name: 'app', attempt: 0 }, image: name, labels: config.labels, logPath: 'app/0.log' },
    sandboxConfig: config,
  });
  await runtime.startContainer({ containerId });
  return { podSandboxId, containerId };
}

const stateOf = async ({ runtime }: CriClient, containerId: string) =>
  (await runtime.containerStatus({ containerId })).status!;

/** Records a pod whose container exits on its own with code 3. Returns the path of the recording. */
async function record(t: TestContext): Promise<string> {
  const runtime = new FakeRuntime();
  const directory = await directoryOf(t);
  const socket = join(directory, 'runtime.sock');
  const server = await createCriServer({ socket, handlers: runtime.handlers, logger: silentLogger });
  t.after(() => server.close(0));
  const file = join(directory, 'recording.jsonl');
  const { cri, proxy } = await clientOf(t, parseEndpoint(socket), { record: file });
  const watching = new AbortController();
  const events = cri.runtime.getContainerEvents({}, { signal: watching.signal });
  await cri.runtime.version({});
  runtime.inject('runPodSandbox', { delayMs: 60, times: 1 });
  const { podSandboxId, containerId } = await startPod(cri, 'recorded');
  await stateOf(cri, containerId);
  await cri.runtime.listContainers({});
  await sleep(150);
  runtime.exitContainer(containerId, { exitCode: 3, reason: 'Error' });
  for await (const event of events) if (event.containerEventType === 2) break;
  await stateOf(cri, containerId);
  runtime.inject('stopPodSandbox', { error: new PodwrightError('aborted', 'busy'), times: 1 });
  await assert.rejects(cri.runtime.stopPodSandbox({ podSandboxId }));
  await cri.runtime.stopPodSandbox({ podSandboxId });
  await cri.runtime.removeContainer({ containerId });
  await cri.runtime.removePodSandbox({ podSandboxId });
  await proxy.close();
  return file;
}

const until = (met: () => Promise<boolean>) =>
  waitFor(async () => ((await met()) ? true : undefined), { intervalMs: 5, signal: AbortSignal.timeout(5000) });

test('a recorded runtime runs another client’s pods, with its names and at the recorded pace', async (t) => {
  const recording = await readRecording(await record(t), criMethods());
  assert.deepEqual(recording.warnings, []);
  const { cri } = await clientOf(t, recording);
  assert.deepEqual((await cri.runtime.listPodSandbox({})).items, []);
  const seen: number[] = [];
  const reading = (async () => {
    for await (const { containerEventType, containersStatuses } of cri.runtime.getContainerEvents({})) {
      seen.push(containerEventType);
      assert.ok(containersStatuses.every(({ labels }) => labels['io.kubernetes.pod.uid'] === 'another'));
      if (containerEventType === 2) return;
    }
  })();
  await cri.runtime.version({});
  const beganMs = performance.now();
  const startedMs = Date.now();
  const { podSandboxId, containerId } = await startPod(cri, 'another');
  assert.ok(performance.now() - beganMs >= 59);
  const running = await stateOf(cri, containerId);
  assert.equal(running.state, ContainerState.CONTAINER_RUNNING);
  assert.equal(running.labels['io.kubernetes.pod.uid'], 'another');
  assert.equal(running.logPath, '/var/log/pods/shop_web_another/app/0.log');
  assert.ok(Number(running.startedAt / 1_000_000n) >= startedMs - 50);
  const { items } = await cri.runtime.listPodSandbox({ filter: { id: podSandboxId } });
  assert.deepEqual(
    items.map(({ metadata }) => metadata?.uid),
    ['another'],
  );
  await until(async () => (await stateOf(cri, containerId)).state === ContainerState.CONTAINER_EXITED);
  const exited = await stateOf(cri, containerId);
  assert.equal(exited.exitCode, 3);
  assert.ok(exited.finishedAt > exited.startedAt);
  assert.equal((await stateOf(cri, containerId)).finishedAt, exited.finishedAt);
  await reading;
  await assert.rejects(cri.runtime.stopPodSandbox({ podSandboxId }), { code: 'aborted', message: 'busy' });
  await cri.runtime.stopPodSandbox({ podSandboxId });
  await cri.runtime.removeContainer({ containerId });
  await cri.runtime.removePodSandbox({ podSandboxId });
  assert.deepEqual((await cri.runtime.listContainers({})).containers, []);
  assert.deepEqual((await cri.runtime.listPodSandbox({})).items, []);
});

test('a replay waits for its client, and unrecorded calls fail by name', async (t) => {
  const { cri } = await clientOf(t, await readRecording(await record(t), criMethods()));
  await sleep(300);
  const { podSandboxId, containerId } = await startPod(cri, 'late');
  assert.equal((await stateOf(cri, containerId)).state, ContainerState.CONTAINER_RUNNING);
  await cri.runtime.stopContainer({ containerId, timeout: 0n });
  assert.equal((await stateOf(cri, containerId)).state, ContainerState.CONTAINER_EXITED);
  await assert.rejects(cri.runtime.startContainer({ containerId }), /the recording has no further StartContainer/);
  await assert.rejects(startPod(cri, 'again'), /the recording has no further RunPodSandbox of pod shop\/web/);
  await assert.rejects(cri.runtime.execSync({ containerId, cmd: ['true'] }), /the recording has no such ExecSync/);
  await assert.rejects(cri.runtime.podSandboxStatus({ podSandboxId: 'x' }), { code: 'not_found' });
  await assert.rejects(cri.runtime.runtimeConfig({}), { code: 'unimplemented' });
  await cri.runtime.removePodSandbox({ podSandboxId });
});

/**
 * Records the calls that `use` makes to an in-memory runtime, which also implements the methods in `more`. Returns the path of the
 * recording.
 */
async function recordUse(
  t: TestContext,
  use: (cri: CriClient) => Promise<unknown>,
  { apiVersion, more }: { apiVersion?: CriApiVersion; more?: (fake: FakeRuntime) => Partial<RuntimeHandlers> } = {},
): Promise<string> {
  const runtime = new FakeRuntime();
  const directory = await directoryOf(t);
  const [socket, file] = [join(directory, 'runtime.sock'), join(directory, 'recording.jsonl')];
  const handlers = { ...runtime.handlers, runtime: { ...runtime.handlers.runtime, ...more?.(runtime) } };
  const server = await createCriServer({ socket, handlers, logger: silentLogger });
  t.after(() => server.close(0));
  const { cri, proxy } = await clientOf(t, parseEndpoint(socket), { record: file, apiVersion });
  await use(cri);
  await proxy.close();
  return file;
}

const recordedUse = async (...use: Parameters<typeof recordUse>): Promise<Recording> =>
  await readRecording(await recordUse(...use), criMethods());

test('a call recorded in the same millisecond in which the previous one ended is replayed after it', async (t) => {
  const file = await recordUse(t, (cri) => startPod(cri, 'recorded'));
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  const lineOf = (method: string) => lines.findIndex((line) => line.includes(`Service/${method}"`));
  const change = (index: number, fields: object) => {
    lines[index] = JSON.stringify({ ...JSON.parse(lines[index]!), ...fields });
  };
  const created = Date.parse(JSON.parse(lines[lineOf('CreateContainer')]!).at);
  const at = (ms: number) => new Date(ms).toISOString();
  change(lineOf('CreateContainer'), { at: at(created), tookMs: 3.9 });
  change(lineOf('StartContainer'), { at: at(created + 3), tookMs: 0.5 }); // it began at 3.95 ms
  await writeFile(file, `${lines.join('\n')}\n`);
  const { cri } = await clientOf(t, await readRecording(file, criMethods()));
  const { containerId } = await startPod(cri, 'another');
  assert.equal((await stateOf(cri, containerId)).state, ContainerState.CONTAINER_RUNNING);
});

/** Returns the names of the pods and containers in streamed lists. */
async function streamed({ runtime }: CriClient): Promise<string[]> {
  const names: string[] = [];
  for await (const { podSandboxes } of runtime.streamPodSandboxes({}))
    names.push(...podSandboxes.map(({ metadata }) => `${metadata?.name} ${metadata?.uid}`));
  for await (const { containers } of runtime.streamContainers({}))
    names.push(...containers.map(({ metadata }) => `${metadata?.name}`));
  return names;
}

test('streamed lists are replayed like other lists', async (t) => {
  const recording = await recordedUse(
    t,
    async (cri) => {
      await startPod(cri, 'recorded');
      await streamed(cri);
    },
    {
      more: ({ client: { runtime } }) => ({
        async *streamPodSandboxes({ filter }) {
          yield { podSandboxes: (await runtime.listPodSandbox({ filter })).items };
        },
        async *streamContainers({ filter }) {
          yield { containers: (await runtime.listContainers({ filter })).containers };
        },
      }),
    },
  );
  const { cri } = await clientOf(t, recording);
  assert.deepEqual(await streamed(cri), []);
  const { containerId } = await startPod(cri, 'another');
  assert.deepEqual(await streamed(cri), ['web another', 'app']);
  await cri.runtime.removeContainer({ containerId });
  assert.deepEqual(await streamed(cri), ['web another']);
});

test('streamed lists that the recorded runtime lacked are not replayed', async (t) => {
  const { cri } = await clientOf(t, await recordedUse(t, (recorded) => startPod(recorded, 'recorded')));
  await assert.rejects(streamed(cri), { code: 'unimplemented', message: /the recording has no StreamPodSandboxes/ });
});

test('a v1alpha2 recording is replayed to v1alpha2 clients', async (t) => {
  const use = async (cri: CriClient) => {
    await cri.runtime.version({});
    await startPod(cri, 'recorded');
  };
  const { cri } = await clientOf(t, await recordedUse(t, use, { apiVersion: 'v1alpha2' }));
  assert.equal(cri.apiVersion, 'v1alpha2', 'the client that speaks both versions has found out');
  const { containerId } = await startPod(cri, 'another');
  assert.equal((await stateOf(cri, containerId)).state, ContainerState.CONTAINER_RUNNING);
});

test('a truncated recording is read up to the truncation, and other malformed files are rejected with the line', async (t) => {
  const file = await record(t);
  const whole = await readFile(file, 'utf8');
  const read = async (text: string) => {
    await writeFile(file, text);
    return await readRecording(file, criMethods());
  };
  const lines = whole.trimEnd().split('\n');
  const { calls, warnings } = await read(whole.slice(0, whole.lastIndexOf('"method"')));
  assert.ok(calls.length > 5);
  assert.deepEqual(warnings, [`the recording is truncated: line ${lines.length} is incomplete`]);
  const refuse = async (text: string, message: string | RegExp) =>
    await assert.rejects(read(text), { code: 'invalid_argument', message });
  await refuse('', `${file}:1: this is not a recording of the CRI`);
  await refuse('kind: Pod\n', `${file}:1: this is not a recording of the CRI`);
  await refuse('{"recording":"other"}\n', `${file}:1: this is not a recording of the CRI`);
  const other = lines[0]!.replace('"version":1', '"version":2');
  await refuse(other, `${file}:1: the recording has version 2; this program reads version 1`);
  await refuse([lines[0], '{"call":', ...lines.slice(1)].join('\n'), new RegExp(`^${file}:2: `));
  await refuse([lines[0], '[]'].join('\n'), `${file}:2: the line is not a JSON object`);
  await refuse([lines[0], '{"at":"soon"}'].join('\n'), `${file}:2: "at" is not a time`);
  const call = { call: 1, at: '2026-11-30T00:00:00Z', method: '/runtime.v1.RuntimeService/Version', tookMs: 1 };
  await refuse([lines[0], JSON.stringify({ ...call, request: { versoin: 1 } })].join('\n'), /:2: "request": .*versoin/);
  await refuse(
    [lines[0], JSON.stringify({ ...call, request: {}, tookMs: '1' })].join('\n'),
    /:2: "tookMs" is not a number/,
  );
  await writeFile(file, `${lines.join('\n')}\n`);
  await appendFile(file, `${JSON.stringify({ ...call, method: '/new.v1.Service/Call' })}\n`);
  assert.deepEqual((await readRecording(file, criMethods())).warnings, [
    '1 calls of the unknown method /new.v1.Service/Call are left out',
  ]);
});
