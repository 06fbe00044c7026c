import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Logger, PodwrightError, silentLogger } from '@podwright/base';
import { FakeKubeClient, refusal } from '../fake-kube-client.ts';
import { EVENTS } from '../resources.ts';
import { ApiEventSink } from './api-event-sink.ts';

const ABOUT = { kind: 'Pod', namespace: 'shop', name: 'web', uid: 'u1' };
const unavailable = () => new PodwrightError('unavailable', 'connection refused');

function start(client = new FakeKubeClient(), logger: Logger = silentLogger) {
  const sink = new ApiEventSink({ client, logger, retryMs: 5 });
  const events = sink.recorder({ component: 'kubelet', host: 'node' });
  const emit = (message: string) => events.event(ABOUT, 'Normal', 'Test', message);
  return { client, emit, sink, [Symbol.dispose]: () => sink.stop() };
}

function recordingLogger(warnings: string[]): Logger {
  return { ...silentLogger, warn: (_fields, message) => warnings.push(message) };
}

test('a new event is created, and a repeat patches only its count, time and message', async () => {
  using started = start();
  started.emit('same');
  started.emit('same');
  const patch = await started.client.waitForCalls({ verb: 'patch' });
  const [created] = started.client.callsOf({ verb: 'create' });
  assert.deepEqual(created!.key, { namespace: 'shop', name: patch.key!.name });
  assert.deepEqual(Object.keys(patch.body as object), ['count', 'lastTimestamp', 'message']);
  assert.deepEqual([patch.patchType, (patch.body as { count: number }).count], ['strategic', 2]);
});

test('a repeat of an event deleted from the API server creates it again, with its count', async () => {
  using started = start();
  started.emit('same');
  const { key } = await started.client.waitForCalls({ verb: 'create' });
  started.client.remove(EVENTS, key!);
  started.emit('same');
  const second = await started.client.waitForCalls({ verb: 'create' }, 2);
  assert.equal((second.body as { count: number }).count, 2);
});

test('without a response, an event is tried up to twelve times, and later events keep their order', async () => {
  const warnings: string[] = [];
  const client = new FakeKubeClient();
  client.script({ verb: 'create' }, ...Array.from({ length: 14 }, unavailable));
  using started = start(client, recordingLogger(warnings));
  for (const message of ['one', 'two', 'three']) started.emit(message);
  await client.waitForCalls({ verb: 'create' }, 16);
  const sent = client.callsOf({ verb: 'create' }).map(({ body }) => (body as { message: string }).message);
  assert.deepEqual(sent, [...Array(12).fill('one'), 'two', 'two', 'two', 'three']);
  assert.deepEqual(warnings, ['failed to send an event']);
});

test('a rejection drops the event at once, and is logged unless expected', async () => {
  const warnings: string[] = [];
  const client = new FakeKubeClient();
  const going = refusal(403, 'Forbidden');
  going.status.causes = [{ reason: 'NamespaceTerminating' }];
  client.script({ verb: 'create' }, refusal(403, 'Forbidden'), refusal(409, 'AlreadyExists'), going);
  using started = start(client, recordingLogger(warnings));
  for (const message of ['one', 'two', 'three', 'four']) started.emit(message);
  await client.waitForCalls({ verb: 'create' }, 4);
  assert.deepEqual(warnings, ['failed to send an event']);
});

test('the queue is bounded while the server does not respond', async () => {
  const client = new FakeKubeClient();
  const answering = Promise.withResolvers<object>();
  client.script({ verb: 'create' }, () => answering.promise);
  using started = start(client);
  const events = Array.from({ length: 1500 }, (_, index) => `message ${index}`);
  for (const message of events) started.emit(message);
  answering.resolve({});
  // the rate limit lets 25 events per object pass; they must be from the queue, not ones emitted while it was full
  await client.waitForCalls({}, 25);
  assert.ok(client.callsOf({}).every(({ body }) => Number(/\d+$/.exec((body as { message: string }).message)) < 1001));
});

test('a stopped sink sends nothing more', async () => {
  const client = new FakeKubeClient();
  client.script({ verb: 'create' }, unavailable());
  const started = start(client);
  started.emit('one');
  await client.waitForCalls({ verb: 'create' });
  started.sink.stop();
  started.emit('two');
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(client.calls.length, 1);
});
