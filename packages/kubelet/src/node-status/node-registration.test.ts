import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { PodwrightError, silentLogger } from '@podwright/base';
import type { Node } from '@podwright/kube-api';
import { NODES } from '@podwright/kube-client';
import { refusal } from '@podwright/kube-client/testing';
import { eventReasons, mockTime, NodeApi } from './node-api.fixture.ts';
import { registerNode } from './node-registration.ts';
import { identity, registered, seen } from './seen-node.fixture.ts';

const PLACE = { name: 'n1' };

function begin(t: TestContext, api = new NodeApi()) {
  const clock = mockTime(t);
  const controller = new AbortController();
  t.after(() => controller.abort());
  const events = eventReasons();
  const options = {
    ...identity(),
    client: api,
    observe: async () => seen(),
    resetExtendedResources: () => false,
    events,
    logger: silentLogger,
  };
  let isDone = false;
  void registerNode(options, controller.signal).then(() => {
    isDone = true;
  });
  return { api, clock, events, controller, isDone: () => isDone };
}

test('a node is created at once, and its events are emitted', async (t) => {
  const { api, clock, events, isDone } = begin(t);
  await clock.pass(0);
  assert.equal(isDone(), true);
  assert.equal(api.stored<Node>(NODES, PLACE)?.status?.nodeInfo?.machineID, 'm');
  assert.deepEqual(events.reasons, ['NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID']);
});

test('a failing server is retried indefinitely, with pauses that double up to seven seconds', async (t) => {
  const api = new NodeApi();
  const times: number[] = [];
  const fail = () => {
    times.push(clock.nowMs());
    throw new PodwrightError('unavailable', 'connection refused');
  };
  api.script({ verb: 'create' }, ...Array.from({ length: 9 }, () => fail));
  const { clock, events, isDone } = begin(t, api);
  await clock.pass(27_000);
  assert.deepEqual(times, [0, 100, 300, 700, 1500, 3100, 6300, 12_700, 19_700]);
  assert.deepEqual([isDone(), events.reasons.length], [true, 3]);
});

test('no request is made after the shutdown', async (t) => {
  const api = new NodeApi();
  api.script({ verb: 'create' }, ...Array.from({ length: 9 }, () => refusal(500, 'InternalError')));
  const { clock, controller, isDone } = begin(t, api);
  await clock.pass(150);
  controller.abort();
  await clock.pass(10_000);
  assert.deepEqual([api.calls.length, isDone()], [2, true]);
});

test('an existing Node object is adopted, and is not written if it is up to date', async (t) => {
  const api = new NodeApi();
  api.put(NODES, registered());
  const { clock, isDone } = begin(t, api);
  await clock.pass(100);
  assert.deepEqual([isDone(), api.calls.map(({ verb }) => verb)], [true, ['create', 'get']]);
});

test('without permission to create nodes, the existing Node object is adopted with a status patch', async (t) => {
  const api = new NodeApi();
  const { labels: _, ...metadata } = registered().metadata;
  api.put(NODES, { ...registered(), metadata });
  api.script({ verb: 'create' }, refusal(403, 'Forbidden'));
  const { clock, isDone } = begin(t, api);
  await clock.pass(100);
  assert.equal(isDone(), true);
  assert.deepEqual(api.callsOf({ verb: 'patch', subresource: 'status' }).length, 1);
  assert.deepEqual(api.patches, [{ metadata: { labels: registered().metadata.labels } }]);
});

test('a Node object that is deleted before its adoption is created', async (t) => {
  const api = new NodeApi();
  api.script({ verb: 'create' }, refusal(409, 'AlreadyExists'));
  const { clock, isDone } = begin(t, api);
  await clock.pass(300);
  assert.deepEqual([isDone(), api.calls.map(({ verb }) => verb)], [true, ['create', 'get', 'create']]);
});
