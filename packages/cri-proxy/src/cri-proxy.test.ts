import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Client, credentials } from '@grpc/grpc-js';
import { errorCode, PodwrightError, silentLogger, waitFor } from '@podwright/base';
import { connectCri, createCriServer } from '@podwright/cri';
import { FakeRuntime } from '@podwright/cri/testing';
import { parseEndpoint } from '@podwright/grpc';
import { type CriProxyOptions, startCriProxy } from './cri-proxy.ts';
import type { DisplayOptions } from './display/call-display.ts';

const ALL: DisplayOptions = { format: 'json', bodies: false, methods: [], pods: [] };
const SANDBOX = {
  metadata: { name: 'web', uid: 'u1', namespace: 'shop', attempt: 0 },
  annotations: { applied: '{"spec":{"containers":[{"env":[{"name":"A","value":"hidden4"}]}]}}' },
};
const CONTAINER = {
  metadata: { name: 'app', attempt: 0 },
  image: { image: 'busybox' },
  envs: [{ key: 'KEY', value: Buffer.from('hidden1') }],
  labels: { 'io.kubernetes.pod.name': 'web', 'io.kubernetes.pod.namespace': 'shop' },
};

/** An in-memory runtime behind a CRI proxy, and a client connected to the proxy. */
async function proxied(t: TestContext, display: Partial<DisplayOptions> = {}, more: Partial<CriProxyOptions> = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'podwright-cri-proxy-'));
  t.after(() => rm(directory, { recursive: true }));
  const runtime = new FakeRuntime({ images: ['busybox'] });
  const socket = join(directory, 'runtime.sock');
  const serve = () => createCriServer({ socket, handlers: runtime.handlers, logger: silentLogger });
  let server = await serve();
  t.after(() => server.close(0));
  const lines: string[] = [];
  const record = join(directory, 'recording.jsonl');
  const proxy = await startCriProxy({
    socket: join(directory, 'proxy.sock'),
    to: parseEndpoint(socket),
    logger: silentLogger,
    display: { ...ALL, ...display, write: (line) => lines.push(line) },
    record,
    ...more,
  });
  t.after(() => proxy.close());
  const cri = await connectCri({ runtimeEndpoint: proxy.endpoint, logger: silentLogger });
  t.after(() => cri.close());
  const restart = async (meanwhile: () => Promise<void>) => {
    await server.close(0);
    await meanwhile();
    server = await serve();
  };
  return { runtime, lines, cri, proxy, record, restart };
}

async function runPod({ cri }: Awaited<ReturnType<typeof proxied>>) {
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: SANDBOX });
  const auth = { username: 'me', password: 'hidden2', identityToken: 'hidden3' };
  await cri.image.pullImage({ image: { image: 'busybox' }, auth, sandboxConfig: SANDBOX });
  const { containerId } = await cri.runtime.createContainer({
    podSandboxId,
    config: CONTAINER,
    sandboxConfig: SANDBOX,
  });
  await cri.runtime.startContainer({ containerId });
  return { podSandboxId, containerId };
}

const until = (met: () => boolean) =>
  waitFor(async () => (met() ? true : undefined), { intervalMs: 5, signal: AbortSignal.timeout(5000) });

test('calls are shown with their pods, containers and results', async (t) => {
  const proxied_ = await proxied(t);
  const { containerId } = await runPod(proxied_);
  await assert.rejects(proxied_.cri.runtime.containerStatus({ containerId: 'nothing' }));
  await proxied_.cri.runtime.stopContainer({ containerId, timeout: 0n });
  await until(() => proxied_.lines.length === 7);
  const seen = proxied_.lines.map((line) => JSON.parse(line));
  assert.deepEqual(
    seen.map(({ method, pod, container, code }) => [method, pod, container, code]),
    [
      ['Version', undefined, undefined, 'OK'],
      ['RunPodSandbox', 'shop/web', undefined, 'OK'],
      ['PullImage', 'shop/web', undefined, 'OK'],
      ['CreateContainer', 'shop/web', 'app', 'OK'],
      ['StartContainer', 'shop/web', 'app', 'OK'],
      ['ContainerStatus', undefined, undefined, 'NotFound'],
      ['StopContainer', 'shop/web', 'app', 'OK'],
    ],
  );
  assert.ok(seen.every(({ durationMs, service }) => durationMs > 0 && service.startsWith('runtime.v1.')));
});

test('the table shows only calls matching the selected methods and pods', async (t) => {
  const proxied_ = await proxied(t, { format: 'table', methods: ['*Container'], pods: ['shop/w*'] });
  await runPod(proxied_);
  await until(() => proxied_.lines.length === 3);
  const columns = proxied_.lines.map((line) => line.split(/ {2,}/));
  assert.deepEqual(columns[0], ['TIME', 'METHOD', 'POD', 'CONTAINER', 'TOOK', 'RESULT']);
  assert.deepEqual(
    columns.slice(1).map(([, method, pod, container, , result]) => [method, pod, container, result]),
    [
      ['CreateContainer', 'shop/web', 'app', 'OK'],
      ['StartContainer', 'shop/web', 'app', 'OK'],
    ],
  );
});

test('control and text direction characters are escaped in the output', async (t) => {
  for (const format of ['json', 'table'] as const) {
    const { cri, lines } = await proxied(t, { bodies: true, format });
    const message = 'no \u009b31m\u202e\x1b[31m';
    await assert.rejects(cri.runtime.containerStatus({ containerId: message }));
    await until(() => lines.some((line) => line.includes('ContainerStatus')));
    assert.doesNotMatch(lines.join(''), /[\p{Cc}\p{Bidi_Control}]/u);
    assert.match(lines.join(''), /\\u009b31m/);
  }
});

test('secrets are neither shown nor recorded', async (t) => {
  const proxied_ = await proxied(t, { bodies: true });
  await runPod(proxied_);
  await until(() => proxied_.lines.length === 5);
  await proxied_.proxy.close();
  const text = proxied_.lines.join('\n') + (await readFile(proxied_.record, 'utf8'));
  assert.doesNotMatch(text, /hidden/);
  for (const secret of ['hidden1', 'hidden4']) assert.ok(!text.includes(Buffer.from(secret).toString('base64')));
  assert.match(text, /"key":"KEY"/);
  assert.match(text, /"username":"me"/);
});

test('events are forwarded as they happen, and shown with their pods', async (t) => {
  const proxied_ = await proxied(t, { format: 'table', methods: ['GetContainerEvents'] });
  const { cri, lines, runtime } = proxied_;
  const controller = new AbortController();
  const kinds: number[] = [];
  const reading = (async () => {
    for await (const event of cri.runtime.getContainerEvents({}, { signal: controller.signal }))
      kinds.push(event.containerEventType);
  })();
  await until(() => lines.some((line) => line.includes('opened')));
  const { containerId } = await runPod(proxied_);
  runtime.exitContainer(containerId, { exitCode: 1 });
  await until(() => kinds.at(-1) === 2);
  controller.abort();
  await assert.rejects(reading);
  await until(() => lines.some((line) => line.includes('Canceled')));
  const shown = lines.find((line) => line.includes('CONTAINER_STOPPED_EVENT'))!;
  assert.deepEqual(shown.split(/ {2,}/).slice(1, 4), ['GetContainerEvents', 'shop/web', 'app']);
});

test('a client survives a restart of the runtime', async (t) => {
  const { cri, restart } = await proxied(t);
  await restart(async () => {
    await assert.rejects(cri.runtime.status({}), (error) => errorCode(error) === 'unavailable');
  });
  assert.equal((await cri.runtime.version({})).runtimeName, 'fake');
});

test('a stream ends along with the runtime, and can be reopened once the runtime is back', async (t) => {
  const { cri, lines, restart, runtime } = await proxied(t);
  const opened = (count: number) => () => lines.filter((line) => line.includes('"stream":"open"')).length === count;
  const read = async () => {
    for await (const { containerEventType } of cri.runtime.getContainerEvents({})) return containerEventType;
    return undefined;
  };
  const first = read();
  await until(opened(1));
  await cri.runtime.version({}); // the runtime has received the watch before it answers this
  const ended = assert.rejects(first, (error) => errorCode(error) === 'unavailable');
  await restart(() => ended);
  const second = read();
  await until(opened(2));
  await cri.runtime.version({});
  await runtime.client.runtime.runPodSandbox({ config: SANDBOX });
  assert.equal(await second, 0);
});

test('errors from the runtime keep their codes and messages', async (t) => {
  const { cri, runtime } = await proxied(t);
  const message = 'name "web" is reserved für 100%\n';
  runtime.inject('runPodSandbox', { error: new PodwrightError('already_exists', message) });
  await assert.rejects(cri.runtime.runPodSandbox({ config: SANDBOX }), { code: 'already_exists', message });
});

test('a recording is not overwritten, and a proxy that cannot start creates none', async (t) => {
  const { proxy, record } = await proxied(t);
  const to = parseEndpoint('unix:///nowhere.sock');
  const again = { socket: `${record}.sock`, to, logger: silentLogger, record };
  await assert.rejects(startCriProxy(again), /record to .*: file already exists/);
  const other = `${record}.other`;
  const taken = { ...again, socket: proxy.endpoint, record: other };
  await assert.rejects(startCriProxy(taken), { code: 'already_exists' });
  await assert.rejects(readFile(other), { code: 'ENOENT' });
});

test('v1alpha2 and non-CRI services are forwarded as well', async (t) => {
  const { proxy, lines } = await proxied(t);
  const old = await connectCri({ runtimeEndpoint: proxy.endpoint, logger: silentLogger, apiVersion: 'v1alpha2' });
  t.after(() => old.close());
  await old.runtime.runPodSandbox({ config: SANDBOX });
  await until(() => lines.some((line) => line.includes('"RunPodSandbox"')));
  const { service, pod } = JSON.parse(lines.find((line) => line.includes('"RunPodSandbox"'))!);
  assert.deepEqual([service, pod], ['runtime.v1alpha2.RuntimeService', 'shop/web']);
  const health = new Client(proxy.endpoint, credentials.createInsecure());
  t.after(() => health.close());
  const same = (bytes: Buffer) => bytes;
  const check = Promise.withResolvers<Buffer>();
  health.makeUnaryRequest('/grpc.health.v1.Health/Check', same, same, Buffer.alloc(0), (error, answer) =>
    error ? check.reject(error) : check.resolve(answer!),
  );
  assert.deepEqual(await check.promise, Buffer.of(8, 1));
  await until(() => lines.some((line) => line.includes('"grpc.health.v1.Health"')));
});

test('a client that floods the proxy does not lock out others', async (t) => {
  const { cri, proxy } = await proxied(t);
  const controller = new AbortController();
  const streams = Array.from({ length: 1500 }, async () => {
    for await (const _ of cri.runtime.getContainerEvents({}, { signal: controller.signal }));
  });
  const padding = 'x'.repeat(200_000);
  const large = Array.from({ length: 100 }, () => cri.runtime.containerStatus({ containerId: padding }));
  const other = await connectCri({ runtimeEndpoint: proxy.endpoint, logger: silentLogger });
  t.after(() => other.close());
  assert.equal((await other.runtime.version({})).runtimeName, 'fake');
  controller.abort();
  await Promise.allSettled([...streams, ...large]);
  assert.equal((await cri.runtime.version({})).runtimeName, 'fake');
});
