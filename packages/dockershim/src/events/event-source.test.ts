import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { errorCode, PodwrightError, silentLogger } from '@podwright/base';
import {
  ContainerEventType,
  create,
  GetEventsRequestSchema,
  RunPodSandboxRequestSchema,
  type RuntimeHandlers,
  StartContainerRequestSchema,
} from '@podwright/cri';
import type { CallContext } from '@podwright/grpc';
import { Engine } from '../engine/engine.ts';
import { EngineHttp } from '../engine/engine-http.ts';
import { startFakeEngine } from '../engine/fake-engine.fixture.ts';
import { eventHandlers } from './event-handlers.ts';
import { PodEventSource } from './event-source.ts';
import type { PodEvent } from './pod-events.ts';

const LABELS = { 'io.kubernetes.docker.type': 'podsandbox' };

/**
 * A connection to the fake Engine's event stream: the container list served during it, and a function that sends events after each list
 * response.
 */
type Connection = { list: Record<string, string>; send: (stream: ServerResponse) => void };

/** Starts a fake Engine that serves one of these connections for each request of the event stream, in order, repeating the last one. */
async function startEngine(connections: Connection[]) {
  let at = -1;
  const asked: string[] = [];
  const fake = await startFakeEngine((request, response) => {
    const url = new URL(request.url!, 'http://docker');
    if (url.pathname.endsWith('/containers/json')) {
      const listed = Object.entries(connections[at]!.list).map(([Id, State]) => ({
        ...{ Id, State, Created: 0, Names: [`/k8s_POD_${Id}_n_u_0`], Labels: LABELS },
      }));
      response.end(JSON.stringify(listed), () => connections[at]!.send(streams[at]!));
      return;
    }
    at = Math.min(at + 1, connections.length - 1);
    asked.push(url.searchParams.get('since')!);
    streams[at] = response;
    response.writeHead(200).flushHeaders();
  });
  const streams: ServerResponse[] = [];
  const engine = new Engine(new EngineHttp(fake.socket, '1.41'));
  return { fake, engine, asked };
}

const line = (id: string, Action: string, atMs: number) =>
  `${JSON.stringify({ Action, timeNano: atMs * 1e6, Actor: { ID: id, Attributes: { name: `k8s_POD_${id}_n_u_0`, ...LABELS } } })}\n`;
const later = () => Date.now() + 60_000;

async function take(events: AsyncIterator<PodEvent>, count: number): Promise<string[]> {
  const published: string[] = [];
  while (published.length < count) {
    const { value } = await events.next();
    published.push(`${value.id} ${value.kind}`);
  }
  return published;
}

test('a broken stream is resumed where it broke, and missed events are derived from a list', async () => {
  const first = {
    list: { a: 'running', b: 'running', c: 'created' },
    send: (stream: ServerResponse) => stream.write(line('a', 'die', later()), () => stream.socket!.destroy()),
  };
  const second = {
    list: { a: 'exited', c: 'running', d: 'exited' },
    send: (stream: ServerResponse) => {
      stream.write(`no event\n${'x'.repeat(2 << 20)}\n${line('a', 'die', 1000)}`);
      stream.write(line('d', 'destroy', later()));
    },
  };
  const { fake, engine, asked } = await startEngine([first, second]);
  await using _stopped = fake;
  const leave = new AbortController();
  const events = new PodEventSource({ engine, logger: silentLogger }).subscribe(leave.signal)[Symbol.asyncIterator]();
  const published = await take(events, 6);
  assert.deepEqual(published, ['a stopped', 'c started', 'd created', 'd stopped', 'b deleted', 'd deleted']);
  assert.ok(Number(asked[1]) > Number(asked[0]), 'the second connection begins at the last event of the first');
  leave.abort();
  assert.equal((await events.next()).done, true);
  engine.close();
});

test('an image with megabytes of labels does not hide its containers’ events', async () => {
  const attributes = { name: 'k8s_POD_a_n_u_0', ...LABELS, long: 'x'.repeat(4 << 20) };
  const event = { Action: 'die', timeNano: later() * 1e6, Actor: { ID: 'a', Attributes: attributes } };
  const send = (stream: ServerResponse) => stream.write(`${JSON.stringify(event)}\n${line('b', 'die', later())}`);
  const { fake, engine } = await startEngine([{ list: { a: 'running', b: 'running' }, send }]);
  await using _stopped = fake;
  const leave = new AbortController();
  const events = new PodEventSource({ engine, logger: silentLogger }).subscribe(leave.signal)[Symbol.asyncIterator]();
  assert.deepEqual(await take(events, 2), ['a stopped', 'b stopped']);
  leave.abort();
  engine.close();
});

test('events since the subscription are reported even if the Engine becomes reachable later', async () => {
  const only = {
    list: { a: 'exited' },
    send: (stream: ServerResponse) => {
      stream.write(line('a', 'start', Date.now() - 60_000));
      for (const action of ['start', 'die']) stream.write(line('a', action, Date.now() + 1));
    },
  };
  const { fake, engine } = await startEngine([only]);
  await using _stopped = fake;
  const leave = new AbortController();
  const source = new PodEventSource({ engine, logger: silentLogger });
  const both = [1, 2].map(() => source.subscribe(leave.signal)[Symbol.asyncIterator]());
  for (const events of both) assert.deepEqual(await take(events, 2), ['a started', 'a stopped']);
  leave.abort();
  engine.close();
});

test('two simultaneous events are both reported, even if the Engine sends the later one first', async () => {
  const only = {
    list: { a: 'created', b: 'created' },
    send: (stream: ServerResponse) => {
      const atMs = later();
      stream.write(line('a', 'start', atMs + 1) + line('b', 'start', atMs) + line('a', 'die', atMs + 2));
    },
  };
  const { fake, engine } = await startEngine([only]);
  await using _stopped = fake;
  const leave = new AbortController();
  const events = new PodEventSource({ engine, logger: silentLogger }).subscribe(leave.signal)[Symbol.asyncIterator]();
  assert.deepEqual(await take(events, 3), ['a started', 'b started', 'a stopped']);
  leave.abort();
  engine.close();
});

/** Subscribes to a fake Engine that sends `count` events at once; `podSandboxStatus` returns the statuses of the sandboxes. */
async function watchFlood(count: number, podSandboxStatus: RuntimeHandlers['podSandboxStatus']) {
  const send = (stream: ServerResponse) => {
    const atMs = Date.now() + 1;
    for (let index = 0; index < count; index++) stream.write(line('a', 'start', atMs));
  };
  const { fake, engine } = await startEngine([{ list: {}, send: once(send) }]);
  const none = () => Promise.reject(new Error('there are none'));
  const runPodSandbox = async () => ({ podSandboxId: 'a' });
  const verbs = { podSandboxStatus, containerStatus: none, runPodSandbox, startContainer: none };
  const handlers = eventHandlers({ engine, logger: silentLogger }, verbs);
  const watch = (call: CallContext) =>
    handlers.getContainerEvents(create(GetEventsRequestSchema), call)[Symbol.asyncIterator]();
  return { fake, engine, handlers, watch };
}

/**
 * Returns a function that runs `work` only on its first call. The fake Engine sends events after each list response, and pod snapshots
 * request lists too.
 */
function once<T extends unknown[]>(work: (...given: T) => void): (...given: T) => void {
  let isDone = false;
  return (...given) => {
    if (!isDone) work(...given);
    isDone = true;
  };
}

const newCall = (): CallContext => ({ signal: AbortSignal.timeout(60_000), service: '', method: '' });

test('an event waits for an unreachable Engine, as without its pod the pod would appear removed', async () => {
  let calls = 0;
  const { fake, engine, watch } = await watchFlood(1, async ({ podSandboxId }) => {
    if (calls++ < 2) throw new PodwrightError('unavailable', 'away');
    return { status: { id: podSandboxId } };
  });
  await using _stopped = fake;
  const events = watch(newCall());
  const { value } = await events.next();
  assert.deepEqual([value.podSandboxStatus, value.containersStatuses, calls], [{ id: 'a' }, [], 3]);
  await events.return?.();
  engine.close();
});

test('ready sandboxes and containers that failed to start, which have no Engine events, are reported', async () => {
  const { fake, engine, handlers, watch } = await watchFlood(1, async () => ({}));
  await using _stopped = fake;
  const events = watch(newCall());
  const next = async () => (await events.next()).value.containerEventType;
  assert.equal(await next(), ContainerEventType.CONTAINER_STARTED_EVENT);
  await handlers.runPodSandbox(create(RunPodSandboxRequestSchema), newCall());
  assert.equal(await next(), ContainerEventType.CONTAINER_STARTED_EVENT);
  const start = (containerId: string) =>
    assert.rejects(handlers.startContainer(create(StartContainerRequestSchema, { containerId }), newCall()), /none/);
  await start('of no sandbox');
  await start('a');
  assert.equal(await next(), ContainerEventType.CONTAINER_STOPPED_EVENT);
  await events.return?.();
  engine.close();
});

test('a slow client’s stream fails without holding up other clients', async () => {
  const COUNT = 12_000;
  const { fake, engine, watch } = await watchFlood(COUNT, async () => ({}));
  await using _stopped = fake;
  const slow = watch(newCall());
  const quick = watch(newCall());
  for (let read = 0; read < COUNT; read++) assert.equal((await quick.next()).done, false);
  let delivered = 0;
  const rest = async () => {
    while (!(await slow.next()).done) delivered++;
  };
  await assert.rejects(rest(), (error) => errorCode(error) === 'resource_exhausted');
  assert.ok(delivered > 0 && delivered <= 10_000, `${delivered} were delivered`);
  await quick.return?.();
  engine.close();
});
