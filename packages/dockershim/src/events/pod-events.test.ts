import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EngineEvent, parseEvent } from '../engine/engine-events.ts';
import { isNews, type KnownContainer, knownContainers, missedEvents, podEventOf } from './pod-events.ts';

const SANDBOX = { name: 'k8s_POD_p_n_u_0', 'io.kubernetes.docker.type': 'podsandbox' };
const CONTAINER = {
  name: 'k8s_c_p_n_u_0',
  'io.kubernetes.docker.type': 'container',
  'io.kubernetes.sandbox.id': 's',
};

const event = (attributes: Record<string, string>, action: EngineEvent['action'] = 'die'): EngineEvent => ({
  ...{ id: 'x', action, atMs: 5, attributes },
});

test('an Engine event is a pod event if its container’s label and name match', () => {
  assert.deepEqual(podEventOf(event(SANDBOX, 'create')), { id: 'x', sandboxId: 'x', kind: 'created', atMs: 5 });
  assert.deepEqual(podEventOf(event(CONTAINER)), { id: 'x', sandboxId: 's', kind: 'stopped', atMs: 5 });
  for (const hostile of [
    { ...CONTAINER, name: 'web' },
    { ...SANDBOX, name: CONTAINER.name },
    { ...CONTAINER, name: SANDBOX.name },
    { ...CONTAINER, 'io.kubernetes.docker.type': 'other' },
    { name: CONTAINER.name },
  ])
    assert.equal(podEventOf(event(hostile)), undefined);
});

test('other and malformed events are ignored', () => {
  const line = { Action: 'start', timeNano: 7e6, Actor: { ID: 'x', Attributes: { a: 'b' } } };
  assert.deepEqual(parseEvent(JSON.stringify(line)), { id: 'x', action: 'start', atMs: 7, attributes: { a: 'b' } });
  for (const bad of ['', '{', 'null', '{}', JSON.stringify({ ...line, Action: 'exec_create' }), '{"Actor":{"ID":3}}'])
    assert.equal(parseEvent(bad), undefined, bad);
});

const known = (entries: Record<string, KnownContainer['kind']>) =>
  new Map(Object.entries(entries).map(([id, kind]) => [id, { sandboxId: 's', kind }]));

test('missed events are derived from two lists', () => {
  const check = (
    before: Record<string, KnownContainer['kind']>,
    now: Record<string, KnownContainer['kind']>,
    expected: string[],
  ) => {
    const events = missedEvents(known(before), known(now), 1);
    assert.deepEqual(
      events.map(({ id, kind }) => `${id} ${kind}`),
      expected,
    );
  };
  check({ a: 'started' }, { a: 'started' }, []);
  check({ a: 'created' }, { a: 'stopped' }, ['a stopped']);
  check({ a: 'started' }, {}, ['a deleted']);
  check({}, { a: 'created', b: 'started', c: 'stopped' }, [
    ...['a created', 'b created', 'b started', 'c created', 'c stopped'],
  ]);
});

test('an event from before a list is published if the list does not reflect it yet', () => {
  const check = (listed: Record<string, KnownContainer['kind']>, kind: EngineEvent['action'], expected: boolean) =>
    assert.equal(isNews(known(listed), podEventOf(event(CONTAINER, kind))!), expected);
  check({ x: 'started' }, 'die', true);
  check({ x: 'stopped' }, 'die', false);
  check({ x: 'stopped' }, 'start', false);
  check({ x: 'stopped' }, 'destroy', true);
  check({}, 'create', false);
  check({}, 'destroy', false);
});

test('only sandboxes and their containers are taken from a list', () => {
  const entry = (State: string, { name, ...Labels }: Record<string, string>, Id: string) => ({
    ...{ Id, Names: [`/${name}`], Image: '', ImageID: '', Created: 0, State, Status: '', Labels },
  });
  const list = [entry('paused', CONTAINER, 'a'), entry('dead', SANDBOX, 'b'), entry('running', { name: 'x' }, 'c')];
  assert.deepEqual(
    [...knownContainers(list)],
    [
      ['a', { sandboxId: 's', kind: 'started' }],
      ['b', { sandboxId: 'b', kind: 'stopped' }],
    ],
  );
});
