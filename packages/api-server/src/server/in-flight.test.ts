import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ignoreFailure } from '@podwright/base';
import type { UserInfo } from '@podwright/kube-kinds';
import { InFlight } from './in-flight.ts';

const LIMITS = { total: 3, requests: 2, waiting: 2, longRunning: 1 };

/** A limit with functions that start requests, named after their users and numbered, and end them. */
function limited(limits = LIMITS, userOf = (name: string) => name.slice(0, 1)) {
  const inFlight = new InFlight(limits);
  const running: string[] = [];
  const ends = new Map<string, () => void>();
  const begin = (name: string, { signal = AbortSignal.timeout(10_000), isLongRunning = false, groups = [] } = {}) => {
    const user: UserInfo = { username: userOf(name), groups };
    return inFlight.enter(user, { isLongRunning, signal }).then((entered) => {
      running.push(name);
      ends.set(name, () => entered[Symbol.dispose]());
    });
  };
  /** Ends a request, and lets others begin. */
  const end = async (name: string) => {
    ends.get(name)!();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { begin, end, running };
}

const REFUSED = { message: 'Too many requests, please try again later.' };

test('requests wait while too many run, and the users take turns', async () => {
  const { begin, end, running } = limited();
  await Promise.all([begin('a1'), begin('a2'), begin('b1')]);
  const waiting = ['a3', 'a4', 'b2', 'c1'].map((name) => begin(name));
  await assert.rejects(begin('a5'), REFUSED);
  assert.deepEqual(running, ['a1', 'a2', 'b1']);
  await end('b1');
  assert.deepEqual(running.slice(3), ['b2'], 'the user with too many requests does not take the place');
  await end('a1');
  assert.deepEqual(running.slice(4), ['a3']);
  await end('a2');
  assert.deepEqual(running.slice(5), ['c1'], 'the others have had their turns');
  await end('a3');
  await Promise.all(waiting);
  assert.deepEqual(running.slice(6), ['a4']);
});

test('a request whose client does not wait any longer leaves the queue', async () => {
  const { begin, end, running } = limited();
  await Promise.all([begin('a1'), begin('a2')]);
  const gone = new AbortController();
  const left = begin('a3', { signal: gone.signal });
  const waiting = begin('a4');
  gone.abort(new Error('gone'));
  await assert.rejects(left, { message: 'gone' });
  await end('a1');
  await waiting;
  assert.deepEqual(running, ['a1', 'a2', 'a4']);
  await end('a4');
  await begin('a5');
});

test('a request that waits too long is refused', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { begin } = limited();
  await Promise.all([begin('a1'), begin('a2')]);
  const late = begin('a3', { signal: new AbortController().signal });
  t.mock.timers.tick(15_000);
  await assert.rejects(late, REFUSED);
});

test('long-running requests do not wait, and those of administrators are not limited', async () => {
  const { begin, running } = limited();
  await begin('a1', { isLongRunning: true });
  await assert.rejects(begin('a2', { isLongRunning: true }), REFUSED);
  const groups = ['system:masters'] as never[];
  const names = ['r1', 'r2', 'r3', 'r4'];
  await Promise.all(names.map((name) => begin(name, { groups })));
  await begin('a3');
  assert.deepEqual(running, ['a1', ...names, 'a3']);
});

test('the service accounts of a namespace are one caller', async () => {
  const { begin, running } = limited(LIMITS, (name) => `system:serviceaccount:${name.slice(0, 1)}:${name}`);
  await Promise.all([begin('a1'), begin('a2')]);
  const waiting = [begin('a3'), begin('a4')];
  await begin('b1');
  assert.deepEqual(running, ['a1', 'a2', 'b1']);
  await assert.rejects(begin('a5'), REFUSED);
  await begin('w1', { isLongRunning: true });
  await begin('v1', { isLongRunning: true });
  await assert.rejects(begin('v2', { isLongRunning: true }), REFUSED);
  ignoreFailure(Promise.all(waiting), 'nothing lets these requests run');
});

test('requests of nodes do not wait for those of other users', async () => {
  const { begin, running } = limited();
  await Promise.all([begin('a1'), begin('a2'), begin('b1')]);
  const groups = ['system:nodes'] as never[];
  await Promise.all([begin('n1', { groups }), begin('n2', { groups }), begin('m1', { groups })]);
  assert.deepEqual(running.slice(3), ['n1', 'n2', 'm1']);
});
