import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { errorCode, silentLogger, waitFor } from '@podwright/base';
import { type CriClient, connectCri, createCriServer } from '@podwright/cri';
import { FakeRuntime } from '@podwright/cri/testing';
import { parseEndpoint } from '@podwright/grpc';
import { startCriProxy } from '../cri-proxy.ts';
import { criMethodNames } from '../methods/cri-methods.ts';
import { parseScript } from './parse-script.ts';

const sandboxOf = (name: string) => ({ config: { metadata: { name, uid: name, namespace: 'd', attempt: 0 } } });

/** A client whose calls are modified by a script before they reach an in-memory runtime. */
async function scripted(t: TestContext, rules: string, seed = 1) {
  const directory = await mkdtemp(join(tmpdir(), 'podwright-script-'));
  t.after(() => rm(directory, { recursive: true }));
  const runtime = new FakeRuntime({ images: ['busybox'] });
  const socket = join(directory, 'runtime.sock');
  const server = await createCriServer({ socket, handlers: runtime.handlers, logger: silentLogger });
  t.after(() => server.close(0));
  const script = parseScript(`rules:\n${rules}`, { name: 'script', methods: criMethodNames() });
  const lines: string[] = [];
  const proxy = await startCriProxy({
    socket: join(directory, 'proxy.sock'),
    to: parseEndpoint(socket),
    logger: silentLogger,
    script: { script, seed },
    display: { format: 'json', bodies: false, methods: [], pods: [], write: (line) => lines.push(line) },
  });
  t.after(() => proxy.close());
  const cri = await connectCri({ runtimeEndpoint: proxy.endpoint, logger: silentLogger });
  t.after(() => cri.close());
  const calls = (method: string) => runtime.calls.filter((call) => call.method === method).length;
  return { cri, runtime, lines, calls };
}

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'ok',
    (error: unknown) => errorCode(error),
  );

test('calls fail by method, pod and count, before or after reaching the runtime', async (t) => {
  const { cri, lines, calls } = await scripted(
    t,
    `
- {method: RunPodSandbox, pod: d/web, skip: 1, count: 1, fail: {code: aborted, message: not now}}
- {method: RunPodSandbox, pod: lost, fail: {when: after}}`,
  );
  const run = (name: string) => cri.runtime.runPodSandbox(sandboxOf(name));
  const codes: string[] = [];
  for (const name of ['web', 'other', 'web', 'web']) codes.push(await codeOf(run(name)));
  assert.deepEqual(codes, ['ok', 'ok', 'aborted', 'ok']);
  assert.equal(calls('runPodSandbox'), 3);
  await assert.rejects(run('lost'), { code: 'unavailable', message: 'injected by the script of the CRI proxy' });
  assert.equal(calls('runPodSandbox'), 4);
  const faults = lines.map((line) => JSON.parse(line).script).filter(Boolean);
  assert.deepEqual(faults, [['line 3: fails before the runtime'], ['line 4: fails after the runtime']]);
});

test('a delayed call ends at its client’s deadline without reaching the runtime', async (t) => {
  const { cri, calls } = await scripted(t, '- {method: Status, delay: 1h}');
  await assert.rejects(cri.runtime.status({}, { timeoutMs: 100 }), { code: 'deadline_exceeded' });
  assert.equal(calls('status'), 0);
});

test('calls and answers are delayed', async (t) => {
  const { cri, calls } = await scripted(
    t,
    `
- {method: Status, delay: 60ms, jitter: 20ms}
- {method: ListImages, delayAnswer: 60ms}`,
  );
  const tookMs = async (call: () => Promise<unknown>) => {
    const beganMs = performance.now();
    await call();
    return performance.now() - beganMs;
  };
  assert.ok((await tookMs(() => cri.runtime.status({}))) >= 60);
  let isAnswered = false;
  const listing = tookMs(() => cri.image.listImages({})).finally(() => {
    isAnswered = true;
  });
  await waitFor(async () => calls('listImages') === 1 || undefined, {
    intervalMs: 1,
    signal: AbortSignal.timeout(5000),
  });
  assert.equal(isAnswered, false, 'the runtime has completed the call before its answer is sent');
  assert.ok((await listing) >= 60);
});

test('calls are matched by container and by method patterns', async (t) => {
  const { cri } = await scripted(t, "- {method: '*Container', container: app-*, fail: aborted}");
  const { podSandboxId } = await cri.runtime.runPodSandbox(sandboxOf('web'));
  const create = (name: string) =>
    cri.runtime.createContainer({
      podSandboxId,
      config: { metadata: { name, attempt: 0 }, image: { image: 'busybox' } },
      sandboxConfig: sandboxOf('web').config,
    });
  assert.equal(await codeOf(create('app-1')), 'aborted');
  const { containerId } = await create('other');
  assert.equal(await codeOf(cri.runtime.startContainer({ containerId })), 'ok');
});

test('the same seed affects the same calls', async (t) => {
  const codesOf = async (seed: number) => {
    const { cri } = await scripted(t, '- {method: Status, probability: 0.5, fail: unavailable}', seed);
    const codes: string[] = [];
    for (let call = 0; call < 20; call++) codes.push(await codeOf(cri.runtime.status({})));
    return codes.join(' ');
  };
  const first = await codesOf(1);
  assert.equal(await codesOf(1), first);
  assert.notEqual(await codesOf(2), first);
  assert.match(first, /ok.*unavailable|unavailable.*ok/);
});

test('a repeated call reaches the runtime several times', async (t) => {
  const { cri, calls } = await scripted(t, '- {method: ListImages, repeat: 2, count: 1}');
  await cri.image.listImages({});
  await cri.image.listImages({});
  assert.equal(calls('listImages'), 4);
});

test('calls and connections are dropped', async (t) => {
  const { cri, calls } = await scripted(
    t,
    `
- {method: Status, count: 1, cut: call}
- {method: Status, count: 1, cut: {what: connection, afterMessages: 0}}`,
  );
  assert.equal(await codeOf(cri.runtime.status({})), 'internal');
  assert.equal(calls('status'), 0);
  assert.equal(await codeOf(cri.runtime.status({})), 'unavailable');
  assert.equal(calls('status'), 1);
  assert.equal(await codeOf(cri.runtime.status({})), 'ok');
});

test('a unary call is cut only if its answer has as many messages, and a failure comes before a cut', async (t) => {
  const { cri, calls } = await scripted(
    t,
    `
- {method: Status, count: 1, cut: {afterMessages: 1}}
- {method: Status, count: 1, cut: {afterMessages: 2}}
- {method: Status, count: 1, fail: aborted, cut: call}
- {method: Status, count: 1, fail: {code: aborted, when: after}, cut: call}`,
  );
  const codes: string[] = [];
  for (let call = 0; call < 4; call++) codes.push(await codeOf(cri.runtime.status({})));
  assert.deepEqual(codes, ['internal', 'ok', 'aborted', 'internal']);
  assert.equal(calls('status'), 2);
});

test('responses are reordered, in the same order for the same seed', async (t) => {
  const orderOf = async (seed: number) => {
    const { cri } = await scripted(t, '- {method: RunPodSandbox, reorder: 4}', seed);
    const names = ['a', 'b', 'c', 'd'];
    const order: string[] = [];
    await Promise.all(
      names.map(async (name) => {
        await cri.runtime.runPodSandbox(sandboxOf(name));
        order.push(name);
      }),
    );
    return order.join('');
  };
  assert.equal(await orderOf(5), await orderOf(5));
  const orders = new Set([await orderOf(1), await orderOf(2), await orderOf(3), await orderOf(5)]);
  assert.ok(orders.size > 1, [...orders].join());
});

test('a response to be reordered waits only for a limited time', async (t) => {
  const { cri } = await scripted(t, '- {method: Status, reorder: 4, within: 50ms}');
  assert.equal(await codeOf(cri.runtime.status({})), 'ok');
});

async function events(cri: CriClient, count: number): Promise<{ kinds: number[]; code: string }> {
  const kinds: number[] = [];
  const read = async () => {
    for await (const event of cri.runtime.getContainerEvents({})) {
      kinds.push(event.containerEventType);
      if (kinds.length === count) return;
    }
  };
  return { code: await codeOf(read()), kinds };
}

async function makeEvents({ cri, lines }: Awaited<ReturnType<typeof scripted>>): Promise<void> {
  await waitFor(async () => (lines.some((line) => line.includes('"stream":"open"')) ? true : undefined), {
    intervalMs: 5,
    signal: AbortSignal.timeout(5000),
  });
  await cri.runtime.version({}); // the runtime has received the watch before it answers this
  const { podSandboxId } = await cri.runtime.runPodSandbox(sandboxOf('web'));
  await cri.runtime.stopPodSandbox({ podSandboxId });
  await cri.runtime.removePodSandbox({ podSandboxId });
}

test('events are repeated, reordered and cut off', async (t) => {
  const repeated = await scripted(t, '- {method: GetContainerEvents, repeat: 1}');
  const [twice] = await Promise.all([events(repeated.cri, 4), makeEvents(repeated)]);
  assert.deepEqual(
    twice.kinds.filter((_, index) => index % 2 === 0),
    twice.kinds.filter((_, index) => index % 2 === 1),
  );
  const cut = await scripted(t, '- {method: GetContainerEvents, cut: {afterMessages: 1}}');
  const [one] = await Promise.all([events(cut.cri, 9), makeEvents(cut)]);
  assert.equal(one.kinds.length, 1);
  assert.equal(one.code, 'internal');
  const mixed = await scripted(t, '- {method: GetContainerEvents, reorder: 3, within: 5s}', 3);
  const plain = await scripted(t, '- {method: Status, delay: 1s}');
  const [random] = await Promise.all([events(mixed.cri, 3), makeEvents(mixed)]);
  const [usual] = await Promise.all([events(plain.cri, 3), makeEvents(plain)]);
  assert.deepEqual(random.kinds.toSorted(), usual.kinds.toSorted());
  assert.notDeepEqual(random.kinds, usual.kinds);
});
