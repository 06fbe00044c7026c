import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { PodwrightError } from '@podwright/base';
import type { LogOptions } from '../client/node-client.ts';
import { attemptsOf, LogFollower } from './log-follower.ts';
import { ended, podOf, RUNNING, status } from './pod.fixture.ts';

/** Follows these logs, keyed by container ID. Each log stays open until its function in `ends` is called. */
function follower(logs: Record<string, string[]>, old: string[] = []) {
  const shown: string[] = [];
  const requests: LogOptions[] = [];
  const ends = new Map<string, () => void>();
  const log = async (_pod: object, options: LogOptions) => {
    requests.push(options);
    const id = options.containerId!;
    if (!(id in logs)) throw new PodwrightError('not_found', 'removed');
    const end = Promise.withResolvers<void>();
    ends.set(id, end.resolve);
    return (async function* () {
      yield Buffer.from(logs[id]!.map((line) => `${line}\n`).join(''));
      await end.promise;
    })();
  };
  const follow = new LogFollower({
    client: { log },
    write: (line) => shown.push(line),
    prefixed: true,
    stream: new PassThrough() as unknown as NodeJS.WriteStream,
    old: new Set(old),
    signal: new AbortController().signal,
  });
  return { follow, shown, requests, ends };
}

test('the attempts that have a log are derived from a status, in order', () => {
  const check = (one: Parameters<typeof attemptsOf>[0], expected: string[]) =>
    assert.deepEqual(attemptsOf(one), expected);
  check(status('a', {}), []);
  check(status('a', { waiting: {} }, { containerID: 'x://1' }), []);
  check(status('a', RUNNING, { containerID: 'x://1' }), ['x://1']);
  check(status('a', RUNNING, { containerID: 'x://2', lastState: ended(1, 'x://1') }), ['x://1', 'x://2']);
  check(status('a', { waiting: {} }, { containerID: 'x://1', lastState: ended(1, 'x://1') }), ['x://1']);
  check(status('a', ended(1, 'x://2'), { containerID: 'x://2', lastState: ended(1, 'x://1') }), ['x://1', 'x://2']);
});

test('each attempt of each container is shown once, in order', async () => {
  const { follow, shown, ends } = follower({ 'x://i': ['init'], 'x://1': ['first'], 'x://2': ['second'] });
  const init = status('setup', ended(0, 'x://i'));
  follow.update(podOf({ containers: [status('a', RUNNING, { containerID: 'x://1' })], init: [init] }));
  const later = status('a', RUNNING, { containerID: 'x://2', lastState: ended(1, 'x://1') });
  for (const _round of [1, 2]) follow.update(podOf({ containers: [later], init: [init] }));
  while (!ends.has('x://1') || !ends.has('x://i')) await new Promise(setImmediate);
  assert.ok(!ends.has('x://2'));
  ends.get('x://1')!();
  while (!ends.has('x://2')) await new Promise(setImmediate);
  for (const end of ends.values()) end();
  await follow.drain();
  assert.deepEqual(shown.sort(), ['web/a | first', 'web/a | second', 'web/setup | init']);
  assert.ok(shown.indexOf('web/a | first') < shown.indexOf('web/a | second'));
});

test('endsShown waits for the logs of ended attempts, but not of running ones', async () => {
  const { follow, shown, ends } = follower({ 'x://1': ['first'], 'x://2': ['second'] });
  const again = podOf({ containers: [status('a', RUNNING, { containerID: 'x://2', lastState: ended(1, 'x://1') })] });
  assert.equal(follow.endsShown(again), undefined);
  follow.update(again);
  let isShown = false;
  const waiting = follow.endsShown(again)!.then(() => {
    isShown = true;
  });
  while (!ends.has('x://1')) await new Promise(setImmediate);
  assert.equal(isShown, false);
  ends.get('x://1')!();
  await waiting;
  assert.deepEqual(shown[0], 'web/a | first');
  while (!ends.has('x://2')) await new Promise(setImmediate);
  ends.get('x://2')!();
  await follow.drain();
});

test('drain does not wait for the logs of excluded pods', async () => {
  const { follow, shown, ends } = follower({ 'x://1': ['one'] });
  const pod = podOf({ containers: [status('a', RUNNING, { containerID: 'x://1' })] });
  follow.update(pod);
  while (!ends.has('x://1')) await new Promise(setImmediate);
  await follow.drain(new Set([pod.metadata.uid]));
  assert.deepEqual(shown, ['web/a | one']);
  ends.get('x://1')!();
});

test('a removed log is skipped', async () => {
  const { follow, shown } = follower({});
  follow.update(podOf({ containers: [status('a', ended(1, 'x://1'))] }));
  await follow.drain();
  assert.deepEqual(shown, []);
});

test('for an existing pod, only the last lines are requested', async () => {
  const { follow, requests, ends } = follower({ 'x://1': ['x'] }, ['u1']);
  follow.update(podOf({ containers: [status('a', RUNNING, { containerID: 'x://1' })] }));
  while (!ends.has('x://1')) await new Promise(setImmediate);
  assert.equal(requests[0]!.tailLines, 10);
  ends.get('x://1')!();
  await follow.drain();
});

test('a log is followed again after a node restart, even if the node does not find the pod at first', async () => {
  const refused = new PodwrightError('not_found', 'there is no pod');
  const answers: (Error | string)[] = [
    '1\n',
    Object.assign(new Error('lost'), { code: 'ECONNRESET' }),
    refused,
    refused,
    '1\n2\n',
  ];
  const log = async () => {
    const answer = answers.shift()!;
    if (typeof answer !== 'string') throw answer;
    return (async function* () {
      yield Buffer.from(answer);
      if (answers[0] instanceof Error) throw answers.shift();
    })();
  };
  const shown: string[] = [];
  const follow = new LogFollower({
    client: { log },
    write: (line) => shown.push(line),
    prefixed: false,
    stream: new PassThrough() as unknown as NodeJS.WriteStream,
    old: new Set(),
    signal: AbortSignal.timeout(30_000),
  });
  follow.update(podOf({ containers: [status('a', RUNNING, { containerID: 'x://1' })] }));
  await follow.drain();
  assert.deepEqual(shown, ['1', '2']);
});
