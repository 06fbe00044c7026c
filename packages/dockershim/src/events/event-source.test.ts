import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { errorCode, PodwrightError, silentLogger } from '@podwright/base';
import {
  type CallContext,
  ContainerEventType,
  create,
  GetEventsRequestSchema,
  RunPodSandboxRequestSchema,
  type RuntimeHandlers,
  StartContainerRequestSchema,
} from '@podwright/cri';
import { Engine } from '../engine/engine.ts';
import { EngineHttp } from '../engine/engine-http.ts';
import { startFakeEngine } from '../engine/fake-engine.fixture.ts';
import { eventHandlers } from './event-handlers.ts';
import { PodEventSource } from './event-source.ts';
import type { PodEvent } from './pod-events.ts';

const LABELS = { 'io.kubernetes.docker.type': 'podsandbox' };

/** A connection as the fake Engine serves it: what its list says, and what it tells then. */
type Connection = { list: Record<string, string>; tell: (stream: ServerResponse) => void };

/** An Engine whose connections are these, one after the other; the last one stays. */
async function startEngine(connections: Connection[]) {
  let at = -1;
  const asked: string[] = [];
  const fake = await startFakeEngine((request, response) => {
    const url = new URL(request.url!, 'http://docker');
    if (url.pathname.endsWith('/containers/json')) {
      const listed = Object.entries(connections[at]!.list).map(([Id, State]) => ({
        ...{ Id, State, Created: 0, Names: [`/k8s_POD_${Id}_n_u_0`], Labels: LABELS },
      }));
      response.end(JSON.stringify(listed), () => connections[at]!.tell(streams[at]!));
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
  const told: string[] = [];
  while (told.length < count) {
    const { value } = await events.next();
    told.push(`${value.id} ${value.kind}`);
  }
  return told;
}

test('a stream that breaks is followed again from where it broke, and a list says what was missed', async () => {
  const first = {
    list: { a: 'running', b: 'running', c: 'created' },
    tell: (stream: ServerResponse) => stream.write(line('a', 'die', later()), () => stream.socket!.destroy()),
  };
  const second = {
    list: { a: 'exited', c: 'running', d: 'exited' },
    tell: (stream: ServerResponse) => {
      stream.write(`no event\n${'x'.repeat(2 << 20)}\n${line('a', 'die', 1000)}`);
      stream.write(line('d', 'destroy', later()));
    },
  };
  const { fake, engine, asked } = await startEngine([first, second]);
  await using _stopped = fake;
  const leave = new AbortController();
  const events = new PodEventSource({ engine, logger: silentLogger }).subscribe(leave.signal)[Symbol.asyncIterator]();
  const told = await take(events, 6);
  assert.deepEqual(told, ['a stopped', 'c started', 'd created', 'd stopped', 'b deleted', 'd deleted']);
  assert.ok(Number(asked[1]) > Number(asked[0]), 'the second connection begins at the last event of the first');
  leave.abort();
  assert.equal((await events.next()).done, true);
  engine.close();
});

test('an image with labels of megabytes does not hide what happens to its containers', async () => {
  const attributes = { name: 'k8s_POD_a_n_u_0', ...LABELS, long: 'x'.repeat(4 << 20) };
  const event = { Action: 'die', timeNano: later() * 1e6, Actor: { ID: 'a', Attributes: attributes } };
  const tell = (stream: ServerResponse) => stream.write(`${JSON.stringify(event)}\n${line('b', 'die', later())}`);
  const { fake, engine } = await startEngine([{ list: { a: 'running', b: 'running' }, tell }]);
  await using _stopped = fake;
  const leave = new AbortController();
  const events = new PodEventSource({ engine, logger: silentLogger }).subscribe(leave.signal)[Symbol.asyncIterator]();
  assert.deepEqual(await take(events, 2), ['a stopped', 'b stopped']);
  leave.abort();
  engine.close();
});

test('what has happened since a client asked is told, although the Engine was reached later', async () => {
  const only = {
    list: { a: 'exited' },
    tell: (stream: ServerResponse) => {
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

test('of two things that happen at once both are told, though the Engine tells the later one first', async () => {
  const only = {
    list: { a: 'created', b: 'created' },
    tell: (stream: ServerResponse) => {
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

/** Events of a fake Engine that tells `count` of them at once, with sandboxes as `podSandboxStatus` says. */
async function watchFlood(count: number, podSandboxStatus: RuntimeHandlers['podSandboxStatus']) {
  const tell = (stream: ServerResponse) => {
    const atMs = Date.now() + 1;
    for (let index = 0; index < count; index++) stream.write(line('a', 'start', atMs));
  };
  const { fake, engine } = await startEngine([{ list: {}, tell: once(tell) }]);
  const none = () => Promise.reject(new Error('there are none'));
  const runPodSandbox = async () => ({ podSandboxId: 'a' });
  const verbs = { podSandboxStatus, containerStatus: none, runPodSandbox, startContainer: none };
  const handlers = eventHandlers({ engine, logger: silentLogger }, verbs);
  const watch = (call: CallContext) =>
    handlers.getContainerEvents(create(GetEventsRequestSchema), call)[Symbol.asyncIterator]();
  return { fake, engine, handlers, watch };
}

/** Snapshots ask for lists too. */
function once<T extends unknown[]>(work: (...given: T) => void): (...given: T) => void {
  let isDone = false;
  return (...given) => {
    if (!isDone) work(...given);
    isDone = true;
  };
}

const newCall = (): CallContext => ({ signal: AbortSignal.timeout(60_000), service: '', method: '' });

test('an Engine that is away as an event is told is waited for: without its pod, the pod would seem to be gone', async () => {
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

test('a sandbox that is ready and a container that could not be started are told, which the Engine does not', async () => {
  const { fake, engine, handlers, watch } = await watchFlood(1, async () => ({}));
  await using _stopped = fake;
  const events = watch(newCall());
  const next = async () => (await events.next()).value.containerEventType;
  assert.equal(await next(), ContainerEventType.CONTAINER_STARTED_EVENT);
  await handlers.runPodSandbox(create(RunPodSandboxRequestSchema), newCall());
  assert.equal(await next(), ContainerEventType.CONTAINER_STARTED_EVENT);
  const start = (containerId: string) =>
    assert.rejects(handlers.startContainer(create(StartContainerRequestSchema, { containerId }), newCall()), /none/);
  await start('of nobody');
  await start('a');
  assert.equal(await next(), ContainerEventType.CONTAINER_STOPPED_EVENT);
  await events.return?.();
  engine.close();
});

test('a client that reads too slowly is told to start over, and holds up no other', async () => {
  const COUNT = 12_000;
  const { fake, engine, watch } = await watchFlood(COUNT, async () => ({}));
  await using _stopped = fake;
  const slow = watch(newCall());
  const quick = watch(newCall());
  for (let told = 0; told < COUNT; told++) assert.equal((await quick.next()).done, false);
  let kept = 0;
  const rest = async () => {
    while (!(await slow.next()).done) kept++;
  };
  await assert.rejects(rest(), (error) => errorCode(error) === 'resource_exhausted');
  assert.ok(kept > 0 && kept <= 10_000, `${kept} were kept`);
  await quick.return?.();
  engine.close();
});
