import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decodeAttributes,
  decodeMessages,
  encodeAttributes,
  encodeMessage,
  listAttributes,
  text,
  u32,
} from './message.ts';

test('a message has its length, body and attributes, aligned to four bytes', () => {
  const encoded = encodeMessage({
    type: 16,
    flags: 5,
    sequence: 7,
    body: Buffer.from([1]),
    attributes: [[3, text('eth0')]],
  });
  assert.equal(encoded.toString('hex'), '20000000100005000700000000000000010000000900030065746830' + '00000000');
  assert.deepEqual(decodeMessages(encoded), [{ type: 16, flags: 5, sequence: 7, body: encoded.subarray(16) }]);
});

test('nested attributes are encoded with the nested flag, and decoded without it', () => {
  const bytes = encodeAttributes([
    [18, [[1, text('veth')]]],
    [4, u32(1500)],
  ]);
  assert.equal(bytes.readUInt16LE(2), 18 | 0x8000);
  const outer = decodeAttributes(bytes);
  assert.equal(decodeAttributes(outer.get(18)!).get(1)!.toString(), 'veth\0');
  assert.equal(outer.get(4)!.readUInt32LE(), 1500);
});

test('elements of a list keep their order', () => {
  const bytes = encodeAttributes([
    [1, u32(2)],
    [1, u32(1)],
  ]);
  assert.deepEqual(
    listAttributes(bytes).map(([, value]) => value.readUInt32LE()),
    [2, 1],
  );
});

test('lengths beyond the end of the bytes are rejected', () => {
  const message = encodeMessage({ type: 16, flags: 0, sequence: 1, body: Buffer.alloc(4), attributes: [] });
  for (const length of [0, 15, message.length + 1, 0xffffffff]) {
    message.writeUInt32LE(length, 0);
    assert.throws(() => decodeMessages(message), RangeError);
  }
  const attribute = encodeAttributes([[1, u32(1)]]);
  for (const length of [0, 3, 9, 0xffff]) {
    attribute.writeUInt16LE(length, 0);
    assert.throws(() => decodeAttributes(attribute), RangeError);
  }
  assert.throws(() => encodeAttributes([[1, Buffer.alloc(0xfffc)]]), RangeError);
});
