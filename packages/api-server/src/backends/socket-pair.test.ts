import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { socketPair } from './socket-pair.ts';

test('each end reads what the other writes, until either side ends', async () => {
  const [one, other] = socketPair();
  one.write('a');
  one.end('b');
  other.write('c');
  const [read, answered] = [other.toArray(), one.toArray()];
  assert.equal(Buffer.concat(await read).toString(), 'ab');
  other.end('d');
  assert.equal(Buffer.concat(await answered).toString(), 'cd');
  await turn();
  assert.ok(one.destroyed && other.destroyed);
});

test('a writer waits for its reader', async () => {
  const [one, other] = socketPair();
  const chunk = Buffer.alloc(1 << 16);
  let writes = 1;
  while (one.write(chunk)) writes += 1;
  await turn();
  assert.ok(one.writableNeedDrain && writes < 10, `${writes} writes`);
  other.resume();
  await once(one, 'drain');
});

test('destroying an end resets the other, unless it had ended its side', async () => {
  const [one, other] = socketPair();
  one.destroy();
  const [error] = await once(other, 'error');
  assert.equal(error.code, 'ECONNRESET');
  const [sender, reader] = socketPair();
  sender.end('last');
  await once(sender, 'finish');
  sender.destroy();
  assert.equal(Buffer.concat(await reader.toArray()).toString(), 'last');
});

test('writing to a closed end fails', async () => {
  const [one, other] = socketPair();
  other.end();
  await once(other, 'finish');
  other.destroy();
  one.write('x');
  const [error] = await once(one, 'error');
  assert.equal(error.code, 'EPIPE');
});

test('reports how long there has been no traffic', async () => {
  const [one, other] = socketPair();
  (one as Socket).setTimeout(50, () => one.destroy());
  const [error] = await once(other, 'error');
  assert.equal(error.code, 'ECONNRESET');
});
