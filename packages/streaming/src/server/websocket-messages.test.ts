import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomBytes, seededRandom } from '../random.fixture.ts';
import { decodeMessage, encodeMessage } from './websocket-messages.ts';

test('a message consists of a channel and bytes, or of a digit and base64', () => {
  assert.deepEqual(encodeMessage(1, Buffer.from('ab'), false), Buffer.from('\x01ab'));
  assert.equal(encodeMessage(1, Buffer.from('ab'), true), '1YWI=');
  assert.deepEqual(decodeMessage(Buffer.from('\x04{}'), false), { channel: 4, payload: Buffer.from('{}') });
  assert.deepEqual(decodeMessage(Buffer.from('0YWI='), true), { channel: 0, payload: Buffer.from('ab') });
  assert.equal(decodeMessage(Buffer.alloc(0), false), undefined);
  assert.equal(decodeMessage(Buffer.from('\x01ab'), true), undefined);
});

test('any payload survives encoding and decoding, and any message is decoded or ignored', () => {
  const random = seededRandom(34);
  for (let round = 0; round < 300; round++) {
    const bytes = randomBytes(random, random(50));
    for (const base64 of [true, false]) {
      const channel = random(base64 ? 10 : 256);
      const encoded = Buffer.from(encodeMessage(channel, bytes, base64));
      assert.deepEqual(decodeMessage(encoded, base64), { channel, payload: bytes });
      const decoded = decodeMessage(bytes, base64);
      assert.ok(decoded === undefined || decoded.payload.length <= bytes.length);
    }
  }
});
