import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { formatTime, type Node } from '@podwright/kube-api';
import { NODES } from '@podwright/kube-client';
import { refusal } from '@podwright/kube-client/testing';
import { eventReasons, mockTime, NodeApi } from './node-api.fixture.ts';
import { NodeReporter } from './node-reporter.ts';
import type { ObservedNode } from './observed-node.ts';
import { registered, seen } from './seen-node.fixture.ts';

const PLACE = { name: 'n1' };
/** Expected interval between status updates: ten seconds, plus the jitter that a Math.random of 0.5 yields. */
const PERIOD_MS = 10_200;

/** Starts a NodeReporter. Its informer returns the API server's Node object, unless a test replaces `host.shown` to make it stale. */
function begin(
  t: TestContext,
  { api = new NodeApi(), has = registered() as Node | undefined, registersAgain = false } = {},
) {
  const clock = mockTime(t);
  const controller = new AbortController();
  t.after(() => controller.abort());
  if (has !== undefined) api.put(NODES, has);
  const events = eventReasons();
  const host = { given: {} as Partial<ObservedNode>, shown: (node: Node | undefined) => node };
  const reporter = new NodeReporter({
    ...{ name: 'n1', heartbeatClient: api, timeoutMs: 10_000, statusUpdateMs: 10_000, statusReportMs: 300_000 },
    informer: { get: () => host.shown(api.stored<Node>(NODES, PLACE)) },
    registered: Promise.resolve(has),
    ...(registersAgain && { registerAgain: () => api.create<Node>(NODES, registered()) }),
    observe: async () => seen({ atMs: Date.now(), ...host.given }),
    events,
    logger: silentLogger,
  });
  void reporter.run(controller.signal);
  const verbs = () =>
    api.calls.splice(0).map(({ verb, subresource }) => `${verb}${subresource ? '/' : ''}${subresource ?? ''}`);
  const ready = () => api.stored<Node>(NODES, PLACE)?.status?.conditions?.find(({ type }) => type === 'Ready');
  return { api, clock, reporter, host, events, verbs, ready };
}

test('the first report is sent at once, even if empty, and then every five minutes', async (t) => {
  const { api, clock, verbs } = begin(t);
  await clock.pass(10);
  assert.deepEqual([verbs(), api.patches.splice(0)], [['patch/status'], [{}]]);
  await clock.pass(280_000);
  assert.deepEqual(verbs(), []);
  await clock.pass(40_000);
  assert.deepEqual(verbs(), ['patch/status']);
  const heartbeats = api.patches[0]?.status?.conditions?.map((one) => Object.keys(one).toSorted().join());
  assert.deepEqual(heartbeats, Array(4).fill('lastHeartbeatTime,type'));
});

test('an idle node makes one call every five minutes', async (t) => {
  const { clock, verbs } = begin(t);
  await clock.pass(10);
  verbs();
  await clock.pass(3_600_000);
  const calls = verbs();
  assert.equal(calls.length >= 10 && calls.length <= 12, true, `${calls.length} calls`);
});

test('the first report after a change is delayed randomly, so that nodes do not synchronize', async (t) => {
  const { clock, verbs, host } = begin(t);
  await clock.pass(10);
  verbs();
  t.mock.method(Math, 'random', () => 0); // two and a half minutes earlier
  host.given = { images: [] };
  await clock.pass(PERIOD_MS);
  assert.deepEqual(verbs(), ['patch/status']);
  await clock.pass(140_000);
  assert.deepEqual(verbs(), []);
  await clock.pass(20_000);
  assert.deepEqual(verbs(), ['patch/status']);
  await clock.pass(270_000);
  assert.deepEqual(verbs(), []);
});

test('changes are reported within a period, and changes in readiness at once', async (t) => {
  const { api, clock, host, reporter, events, verbs, ready } = begin(t);
  await clock.pass(10);
  verbs();
  host.given = { images: [] };
  await clock.pass(PERIOD_MS);
  assert.deepEqual([verbs(), api.patches.at(-1)?.status?.images], [['patch/status'], null]);
  host.given = { problems: ['container runtime is down'] };
  reporter.prompt();
  await clock.pass(110);
  assert.deepEqual(
    [verbs(), ready()?.status, ready()?.message],
    [['patch/status'], 'False', 'container runtime is down'],
  );
  host.given = {};
  reporter.prompt();
  await clock.pass(110);
  assert.deepEqual([ready()?.status, events.reasons], ['True', ['NodeNotReady', 'NodeReady']]);
});

test('frequent triggers cause at most ten reports a second', async (t) => {
  const { clock, host, reporter, verbs } = begin(t);
  await clock.pass(10);
  verbs();
  for (let turn = 0; turn < 100; turn++) {
    host.given = { problems: [`problem ${turn}`] };
    reporter.prompt();
    await clock.pass(10);
  }
  assert.equal(verbs().length <= 10, true);
});

test('a conflict is resolved by reading from the server, without a duplicate event', async (t) => {
  const { api, clock, host, events, verbs, ready } = begin(t);
  await clock.pass(10);
  verbs();
  api.script({ verb: 'patch' }, refusal(409, 'Conflict'), refusal(500, 'InternalError'));
  host.given = { problems: ['a'] };
  await clock.pass(PERIOD_MS);
  assert.deepEqual(verbs(), ['patch/status', 'get', 'patch/status', 'get', 'patch/status']);
  assert.deepEqual([ready()?.status, events.reasons, api.reconnects], ['False', ['NodeNotReady'], 1]);
});

test('an unavailable server is tried five times per period', async (t) => {
  const { api, clock, verbs } = begin(t);
  api.script({ verb: 'patch' }, ...Array.from({ length: 5 }, () => refusal(503, 'ServiceUnavailable')));
  await clock.pass(10);
  assert.deepEqual(verbs(), ['patch/status', ...Array(4).fill(['get', 'patch/status']).flat()]);
  await clock.pass(PERIOD_MS);
  assert.deepEqual(verbs(), ['patch/status']);
});

test('an outdated informer does not revert reported state', async (t) => {
  const { clock, api, host, reporter, events, verbs } = begin(t);
  await clock.pass(10);
  const before = api.stored<Node>(NODES, PLACE);
  host.shown = () => before;
  host.given = { problems: ['a'] };
  await clock.pass(PERIOD_MS);
  verbs();
  reporter.prompt();
  await clock.pass(PERIOD_MS);
  assert.deepEqual([new Set(verbs()), events.reasons], [new Set(['get']), ['NodeNotReady']]);
});

test('the state of a server restored from a backup replaces earlier responses', async (t) => {
  const { clock, api, host, verbs, ready } = begin(t);
  await clock.pass(10);
  const { metadata, ...backup } = api.stored<Node>(NODES, PLACE)!;
  host.given = { problems: ['a'] };
  await clock.pass(PERIOD_MS);
  assert.equal(ready()?.status, 'False');
  const restored = { ...backup, metadata: { ...metadata, resourceVersion: '50' } };
  api.put(NODES, { ...backup, metadata: { name: 'n1', uid: metadata.uid } } as Node);
  host.shown = () => restored;
  api.script({ verb: 'get' }, restored);
  verbs();
  await clock.pass(PERIOD_MS);
  assert.deepEqual([verbs().slice(0, 2), ready()?.status], [['get', 'patch/status'], 'False']);
});

test('after a restore that the lease detects, the node is read from the server and the status reported at once', async (t) => {
  const { clock, api, host, reporter, verbs } = begin(t);
  host.given = { volumesInUse: ['v'] };
  await clock.pass(10);
  const old = api.stored<Node>(NODES, PLACE)!;
  const { metadata, ...backup } = registered();
  api.put(NODES, { ...backup, metadata: { ...metadata, resourceVersion: undefined } } as Node);
  host.shown = () => old;
  verbs();
  reporter.serverRestored();
  await clock.pass(110);
  assert.deepEqual(verbs(), ['get', 'patch/status']);
  assert.deepEqual(api.stored<Node>(NODES, PLACE)?.status?.volumesInUse, ['v']);
});

test('an informer that has not yet received the node causes no extra call', async (t) => {
  const { clock, host, reporter, verbs } = begin(t);
  host.shown = () => undefined;
  await clock.pass(10);
  assert.deepEqual([verbs(), reporter.node()?.metadata.name], [['patch/status'], 'n1']);
});

test('a deleted Node object is not re-created, and a new one receives reports', async (t) => {
  const { api, clock, reporter, verbs } = begin(t);
  await clock.pass(10);
  verbs();
  api.remove(NODES, PLACE);
  await clock.pass(PERIOD_MS);
  assert.deepEqual([verbs(), reporter.node()], [Array(4).fill('get'), undefined]);
  const { conditions: _, ...status } = registered().status!;
  api.put(NODES, { ...registered(), metadata: { name: 'n1', uid: 'another' }, status });
  await clock.pass(PERIOD_MS);
  assert.deepEqual(verbs(), ['patch/status']);
  assert.equal(api.stored<Node>(NODES, PLACE)?.status?.conditions?.length, 4);
});

test('cordoning and uncordoning emit events', async (t) => {
  const { api, clock, events } = begin(t);
  await clock.pass(10);
  api.put(NODES, { ...registered(), spec: { unschedulable: true } });
  await clock.pass(PERIOD_MS);
  api.put(NODES, registered());
  await clock.pass(PERIOD_MS);
  assert.deepEqual(events.reasons, ['NodeNotSchedulable', 'NodeSchedulable']);
});

test('setting the wall clock back a day does not delay reports', async (t) => {
  const { clock, host, verbs, ready } = begin(t);
  await clock.pass(10);
  verbs();
  const yesterday = Date.now() - 86_400_000;
  host.given = { atMs: yesterday, problems: ['a'] };
  await clock.pass(PERIOD_MS);
  assert.deepEqual([verbs(), ready()?.lastTransitionTime], [['patch/status'], formatTime(yesterday)]);
  await clock.pass(600_000);
  assert.equal(verbs().length >= 1, true);
});

test('a reboot is reported once', async (t) => {
  const { clock, host, api, events } = begin(t);
  await clock.pass(10);
  host.given = { nodeInfo: { ...seen().nodeInfo, bootID: 'b2' } };
  await clock.pass(PERIOD_MS);
  api.put(NODES, registered()); // an old boot id from a backup
  await clock.pass(PERIOD_MS);
  assert.deepEqual(events.reasons, ['Rebooted']);
});

test('an invalid Node object does not stop the reporter, which continues once the object is valid again', async (t) => {
  const { api, clock, verbs } = begin(t);
  await clock.pass(10);
  const node = registered();
  const nonsense: object[] = [
    { status: 7 },
    { status: { conditions: 'x' } },
    { status: { conditions: [null, 7] } },
    { status: { capacity: { cpu: {} }, allocatable: 'x' } },
    { status: { addresses: { type: 'InternalIP' } } },
    { metadata: { name: 'n1', labels: 'x', resourceVersion: 'many' } },
  ];
  for (const one of nonsense) {
    api.put(NODES, { ...node, ...one } as Node);
    await clock.pass(PERIOD_MS);
  }
  verbs();
  api.put(NODES, { ...node, status: {} });
  await clock.pass(PERIOD_MS);
  assert.deepEqual(verbs(), ['patch/status']);
});

test('a deleted Node object is re-created only if the node has its own API', async (t) => {
  for (const registersAgain of [false, true]) {
    const { api, clock, ready, reporter } = begin(t, { registersAgain });
    await clock.pass(10);
    await api.delete(NODES, PLACE, {});
    reporter.prompt();
    await clock.pass(PERIOD_MS);
    assert.equal(api.stored<Node>(NODES, PLACE) !== undefined, registersAgain);
    assert.equal(ready()?.status, registersAgain ? 'True' : undefined);
    t.mock.timers.reset();
  }
});
