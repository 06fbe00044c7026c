import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { ApiError } from '@podwright/api-machinery';
import { LargeBodies } from './large-bodies.ts';

const MIB = 1 << 20;

function work(ms: number): void {
  for (const endMs = performance.now() + ms; performance.now() < endMs; );
}

const userOf = (username: string, ...groups: string[]) => ({ username, groups });

/** Returns a tracked body of this size that has been received completely. */
function received(bodies: LargeBodies, bytes: number, user = userOf('a')) {
  const body = bodies.open(user);
  body.received(bytes);
  return body;
}

test('other work runs between large bodies, and small ones do not wait', async () => {
  const bodies = new LargeBodies();
  const order: string[] = [];
  const large = [1, 2, 3].map(async (index) => {
    await received(bodies, MIB).turn();
    work(20);
    order.push(`large ${index}`);
  });
  const other = (async () => {
    while (!order.includes('large 2')) await setImmediate();
    await received(bodies, 100).turn();
    order.push('small');
  })();
  await Promise.all([...large, other]);
  assert.deepEqual(order, ['large 1', 'large 2', 'small', 'large 3']);
});

test('small bodies for large objects wait once, like large bodies', async () => {
  const bodies = new LargeBodies();
  const order: string[] = [];
  const patch = async (name: string, username: string, objectBytes = MIB) => {
    const body = received(bodies, 100, userOf(username));
    await body.turn();
    await body.turnFor(objectBytes);
    await body.turnFor(objectBytes);
    order.push(name);
  };
  await Promise.all([patch('a1', 'a'), patch('a2', 'a'), patch('a3', 'a'), patch('b1', 'b'), patch('small', 'c', 100)]);
  assert.deepEqual(order, ['small', 'a1', 'a2', 'b1', 'a3']);
});

test('callers take turns', async () => {
  const bodies = new LargeBodies();
  const order: string[] = [];
  const serve = async (name: string, username: string) => {
    await received(bodies, MIB, userOf(username)).turn();
    order.push(name);
  };
  await Promise.all([serve('a1', 'a'), serve('a2', 'a'), serve('a3', 'a'), serve('b1', 'b'), serve('b2', 'b')]);
  assert.deepEqual(order, ['a1', 'a2', 'b1', 'a3', 'b2']);
});

const isTooMany = ({ status }: ApiError): boolean => status.code === 429;

test('a caller may hold up to 64 MiB in memory: bodies not yet processed or abandoned', async () => {
  const bodies = new LargeBodies();
  const open = Array.from({ length: 21 }, () => received(bodies, 3 * MIB));
  assert.throws(() => received(bodies, 3 * MIB), isTooMany);
  const growing = bodies.open(userOf('a'));
  growing.received(MIB);
  assert.throws(() => growing.received(2 * MIB), isTooMany);
  assert.throws(() => growing.received(2 * MIB), isTooMany);
  await assert.rejects(growing.turn(), isTooMany);
  open[0]![Symbol.dispose]();
  received(bodies, 3 * MIB);
  await open[1]!.turn();
  received(bodies, 3 * MIB);
});

test('bodies of the caller with the largest share are refused in favor of others, even while being received or waiting', async () => {
  const bodies = new LargeBodies();
  const account = (name: string) => userOf(`system:serviceaccount:eve:${name}`);
  const open = Array.from({ length: 21 }, (_, index) => received(bodies, 3 * MIB, account(`s${index}`)));
  const waiting = open.at(-1)!.turn(); // starts at once: nothing else is processed
  await waiting;
  const last = received(bodies, 3 * MIB, account('x'));
  const refused = assert.rejects(Promise.all([last.turn()]), isTooMany);
  const bank = received(bodies, 3 * MIB, userOf('bank'));
  await refused;
  assert.equal(last.refused.aborted, true);
  await bank.turn();
  assert.equal(open.filter((one) => one.refused.aborted).length, 0);
});

test('administrators are not refused because of other callers', () => {
  const bodies = new LargeBodies();
  for (let index = 0; index < 21; index++) received(bodies, 3 * MIB);
  const admin = userOf('admin', 'system:masters');
  for (let index = 0; index < 21; index++) received(bodies, 3 * MIB, admin);
  assert.throws(() => received(bodies, 3 * MIB, admin), isTooMany);
});
