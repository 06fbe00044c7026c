import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { test } from 'node:test';
import { ClientOutput, ClientPace, tooSlow } from './client-output.ts';

test('output waits for its reader in write order, and is followed by the end of the stream', async () => {
  const output = new ClientOutput(() => undefined);
  const words = Array.from({ length: 20_000 }, (_, index) => `${index} `);
  const half = words.length / 2;
  for (const word of words.slice(0, half)) output.write(Buffer.from(word));
  const received = text(output.stream);
  for (const word of words.slice(half)) output.write(Buffer.from(word));
  output.write(Buffer.alloc(20_000, 'x'));
  output.end();
  output.write(Buffer.from('late'));
  assert.equal(await received, words.join('') + 'x'.repeat(20_000));
  assert.equal(output.waitingBytes, 0);
});

test('a failing output discards pending data, and does not require a listener', async () => {
  const output = new ClientOutput(() => undefined);
  output.write(Buffer.alloc(100_000));
  const ended = assert.rejects(finished(output.stream), { code: 'resource_exhausted' });
  output.fail(tooSlow('attach'));
  assert.equal(output.waitingBytes, 0);
  await ended;
});

test('a full buffer holds the writer up until half of it has been read', () => {
  const output = new ClientOutput(() => undefined);
  const pace = new ClientPace([output], { bufferBytes: 40_000, patienceMs: undefined });
  for (let packet = 0; packet < 5; packet++) {
    assert.equal(pace.isHeld(), false, `packet ${packet}`);
    output.write(Buffer.alloc(8192));
  }
  assert.ok(pace.isHeld());
  while (output.waitingBytes > 20_000) {
    assert.ok(pace.isHeld());
    output.stream.read();
  }
  assert.equal(pace.isHeld(), false);
});

test('a client is too slow once its buffer has been full for the entire period, or once the last extra space is full', () => {
  const output = new ClientOutput(() => undefined);
  const patient = new ClientPace([output], { bufferBytes: 8192, patienceMs: 60_000 });
  const impatient = new ClientPace([output], { bufferBytes: 8192, patienceMs: 0 });
  const isTooSlow = () => [patient.isTooSlow(), impatient.isTooSlow()];
  assert.deepEqual(isTooSlow(), [false, false]);
  output.write(Buffer.alloc(8192));
  assert.deepEqual(isTooSlow(), [false, true]);
  patient.makeRoom(8192);
  assert.deepEqual([patient.isHeld(), patient.isTooSlow()], [false, false]);
  output.write(Buffer.alloc(8192));
  patient.makeRoom(8192); // has no effect
  assert.deepEqual([patient.isHeld(), patient.isTooSlow()], [true, true]);
});
