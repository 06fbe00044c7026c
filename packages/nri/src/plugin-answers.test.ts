/** Plugins that send bad responses: duplicate, late, for a different request, corrupt, or larger than 4 MiB. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCode, sleep } from '@podwright/base';
import { fuzz } from '../../base/src/fuzz.fixture.ts';
import { AdaptationUnderTest, containerSource, podSource } from './adaptation.fixture.ts';
import { EVENT_NAMES, type EventName } from './events.ts';
import { basics, rawPlugin, registerRaw } from './raw-plugin.fixture.ts';

const TIMEOUT_MS = 300;
const QUICK = { timeouts: { registrationTimeoutMs: TIMEOUT_MS, requestTimeoutMs: TIMEOUT_MS } };
const adjusting = (value: string) => ({ adjust: { annotations: { value } } });

/** Sends all events of a pod and its container, from creation to removal. Ignores errors. */
async function sendAllEvents(host: AdaptationUnderTest, name: string): Promise<void> {
  const { adaptation } = host;
  const [pod, container] = [podSource(name), containerSource(`${name}-c`, {}, podSource(name))];
  const steps = [
    () => adaptation.runPodSandbox(pod),
    () => adaptation.createContainer(container),
    () => adaptation.notifyContainer('postCreateContainer', container),
    () => adaptation.startContainer(container),
    () => adaptation.notifyContainer('postStartContainer', container),
    () => adaptation.updateContainer(container, {} as never),
    () => adaptation.notifyContainer('postUpdateContainer', container),
    () => adaptation.updatePodSandbox(pod, () => ({ overhead: {}, sum: {} }) as never),
    () => adaptation.notifyPodUpdated(pod),
    () => adaptation.stopContainer(container),
    () => adaptation.removeContainer(container),
    () => adaptation.stopPodSandbox(pod),
    () => adaptation.removePodSandbox(pod),
  ];
  for (const step of steps) await step().catch(() => undefined);
}

test('a second response to a request is ignored', async () => {
  await using host = await new AdaptationUnderTest().listen();
  let number = 0;
  const handlers = { ...basics, createContainer: async () => adjusting(String(++number)) };
  await rawPlugin(host, { name: '50-twice', handlers, change: (frame) => Buffer.concat([frame, frame]) });
  for (const expected of ['1', '2', '3']) {
    const adjust = await host.adaptation.createContainer(containerSource(`c${expected}`));
    assert.deepEqual(adjust?.annotations, { value: expected });
  }
});

test('a response after the timeout has no effect, and the plugin is disconnected', async () => {
  await using host = await new AdaptationUnderTest(QUICK).listen();
  const late = Promise.withResolvers<void>();
  const createContainer = async () => {
    await sleep(2 * TIMEOUT_MS);
    late.resolve();
    return adjusting('late');
  };
  await rawPlugin(host, { name: '50-late', handlers: { ...basics, createContainer } });
  const first = await host.adaptation.createContainer(containerSource('c'));
  await late.promise;
  const second = await host.adaptation.createContainer(containerSource('d'));
  assert.deepEqual([first, second, host.adaptation.plugins], [undefined, undefined, []]);
});

test('a response with an unknown request ID completes no request', async () => {
  await using host = await new AdaptationUnderTest(QUICK).listen();
  let isWrong = false;
  const change = (frame: Buffer) => {
    if (isWrong) frame.writeUInt32BE(frame.readUInt32BE(4) + 2, 4);
    return frame;
  };
  const handlers = { ...basics, createContainer: async () => adjusting('x') };
  const { closed } = await rawPlugin(host, { name: '50-wrong', handlers, change });
  isWrong = true;
  const adjust = await host.adaptation.createContainer(containerSource('c'));
  await closed;
  assert.deepEqual([adjust, host.adaptation.plugins], [undefined, []]);
});

test('damaged responses to any event affect neither the runtime nor other plugins', async () => {
  await using host = await new AdaptationUnderTest({
    timeouts: { registrationTimeoutMs: 100, requestTimeoutMs: 100 },
  }).listen();
  const seen = new Set<string>();
  const good = Object.fromEntries(EVENT_NAMES.map((event) => [event, () => void seen.add(event)])) as unknown as Record<
    EventName,
    () => undefined
  >;
  await host.plugin('90-good', good);
  const answers = Object.fromEntries(EVENT_NAMES.map((event) => [event, async () => ({ more: true })]));
  const handlers = {
    ...basics,
    ...answers,
    createContainer: async () => adjusting('x'),
    stateChange: async () => ({}),
  };
  const samples: Buffer[] = [];
  const { socket } = await rawPlugin(host, {
    name: '50-sample',
    handlers,
    change: (frame) => {
      samples.push(Buffer.from(frame));
      return frame;
    },
  });
  await sendAllEvents(host, 'sample');
  socket.destroy();
  let round = 0;
  await fuzz({ samples, rounds: 25 }, async (input, random) => {
    const skipped = random(14);
    let frames = 0;
    const change = (frame: Buffer) => (frames++ < skipped ? frame : input);
    const plugin = await registerRaw(host, { name: '50-bad', handlers, change }).catch(() => undefined);
    await sendAllEvents(host, `p${round++}`);
    plugin?.socket.destroy();
    assert.ok(host.adaptation.plugins.includes('90-good'));
  });
  await host.until(() => host.adaptation.plugins.join() === '90-good');
  seen.clear();
  await sendAllEvents(host, 'last');
  assert.equal(seen.size, EVENT_NAMES.length);
});

test('an error message of several MiB is truncated', async () => {
  await using host = await new AdaptationUnderTest().listen();
  const change = (frame: Buffer) => {
    if (!frame.includes('fails')) return frame;
    // Response{status: {code: 2, message}}, as ttrpc encodes it
    const message = Buffer.alloc(3 << 20, 'x');
    const text = Buffer.concat([Buffer.from([0x08, 0x02, 0x12]), varint(message.length), message]);
    const data = Buffer.concat([Buffer.from([0x0a]), varint(text.length), text]);
    const head = Buffer.from(frame.subarray(0, 10));
    head.writeUInt32BE(data.length, 0);
    return Buffer.concat([head, data]);
  };
  const createContainer = () => Promise.reject(new Error('fails'));
  await rawPlugin(host, { name: '50-verbose', handlers: { ...basics, createContainer }, change });
  const error = await host.adaptation.createContainer(containerSource('c')).catch((reason: unknown) => reason);
  assert.equal(errorCode(error), 'unknown');
  assert.ok(String(error).length < 10_000);
});

test('plugin requests over 4 MiB, or too many at the same time, are rejected', async () => {
  await using host = await new AdaptationUnderTest().listen();
  const { socket, runtime } = await rawPlugin(host, {
    name: '50-greedy',
    handlers: { ...basics, startContainer: async () => ({}) },
  });
  const update = [{ containerId: 'c', linux: { resources: { cpu: { cpus: '0' } } } }];
  const results = await Promise.allSettled(Array.from({ length: 3000 }, () => runtime.updateContainers({ update })));
  const done = results.filter(({ status }) => status === 'fulfilled').length;
  const codes = new Set(results.flatMap((one) => (one.status === 'rejected' ? [errorCode(one.reason)] : [])));
  assert.equal(host.updated.length, done);
  assert.ok(done >= 1024 && [...codes].every((code) => code === 'resource_exhausted'));
  for (const part of largeRequest(5 << 20)) socket.write(part);
  await runtime.updateContainers({ update });
  assert.equal(host.updated.length, done + 1);
});

test('a second registration of a plugin is refused', async () => {
  await using host = await new AdaptationUnderTest().listen();
  const { runtime } = await rawPlugin(host, {
    name: '50-first',
    handlers: { ...basics, startContainer: async () => ({}) },
  });
  const again = runtime.registerPlugin({ pluginName: 'second', pluginIdx: '99' });
  await assert.rejects(again, (error) => errorCode(error) === 'failed_precondition');
  assert.deepEqual(host.adaptation.plugins, ['50-first']);
});

test('a plugin that does not read delays only one event, by the timeout', async () => {
  await using host = await new AdaptationUnderTest(QUICK).listen();
  const handlers = { ...basics, createContainer: async () => ({}) };
  const { socket } = await rawPlugin(host, { name: '50-deaf', handlers });
  socket.pause();
  const large = containerSource('c', { annotations: { text: 'x'.repeat(3 << 20) } });
  const beginMs = performance.now();
  await host.adaptation.createContainer(large);
  await host.adaptation.createContainer(containerSource('d'));
  assert.ok(performance.now() - beginMs < 10 * TIMEOUT_MS);
  assert.deepEqual(host.adaptation.plugins, []);
});

test('a slow plugin receives a thousand events in order, and so do the other plugins', async () => {
  await using host = await new AdaptationUnderTest().listen();
  const [slow, quick]: string[][] = [[], []];
  await host.plugin('10-slow', {
    runPodSandbox: async ({ pod }) => {
      await sleep(1);
      slow!.push(pod!.id);
      return undefined;
    },
  });
  await host.plugin('20-quick', { runPodSandbox: ({ pod }) => void quick!.push(pod!.id) });
  const names = Array.from({ length: 1000 }, (_, number) => `p${number}`);
  await Promise.all(names.map((name) => host.adaptation.runPodSandbox(podSource(name))));
  assert.deepEqual([slow, quick], [names, names]);
});

/** Returns a ttrpc request of this size to the runtime's service, split into two multiplexer frames. */
function largeRequest(size: number): Buffer[] {
  const head = Buffer.alloc(10);
  head.writeUInt32BE(size, 0);
  head.writeUInt32BE(0x7fff_ffff, 4);
  head.writeUInt8(1, 8);
  const half = Buffer.alloc(size / 2);
  return [Buffer.concat([head, half]), Buffer.alloc(size - half.length)].flatMap((payload) => {
    const header = Buffer.alloc(8);
    header.writeUInt32BE(2, 0);
    header.writeUInt32BE(payload.length, 4);
    return [header, payload];
  });
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    bytes.push(rest > 127 ? (rest & 127) | 128 : rest);
    if (rest <= 127) return Buffer.from(bytes);
  }
}
