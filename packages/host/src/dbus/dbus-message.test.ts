import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeMessage, encodeCall, messageLength } from './dbus-message.ts';

const CALL = {
  destination: 'org.freedesktop.DBus',
  path: '/org/freedesktop/DBus',
  interface: 'org.freedesktop.DBus',
  member: 'AddMatch',
  arguments: ['rule', -1],
};

/** logind's signal PrepareForShutdown(true), as delivered by the bus. */
function signal(endian: 'little' | 'big'): Buffer {
  const number = (value: number) => {
    const bytes = Buffer.alloc(4);
    if (endian === 'big') bytes.writeUInt32BE(value);
    else bytes.writeUInt32LE(value);
    return bytes;
  };
  const padded = (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc(-bytes.length & 7)]);
  const text = (value: string) => Buffer.concat([number(value.length), Buffer.from(`${value}\0`)]);
  const field = (code: number, type: string, value: Buffer) =>
    Buffer.concat([Buffer.of(code, 1), Buffer.from(`${type}\0`), value]);
  const fields = [
    padded(field(1, 'o', text('/org/freedesktop/login1'))),
    padded(field(3, 's', text('PrepareForShutdown'))),
    padded(field(7, 's', text(':1.5'))),
    field(8, 'g', Buffer.from('\x01b\0')),
  ];
  const list = Buffer.concat(fields);
  const start = Buffer.of(endian === 'big' ? 0x42 : 0x6c, 4, 1, 1);
  return Buffer.concat([padded(Buffer.concat([start, number(4), number(9), number(list.length), list])), number(1)]);
}

test('an encoded call has its length in the header, and decodes to its arguments', () => {
  const bytes = encodeCall(7, CALL);
  assert.equal(messageLength(bytes), bytes.length);
  assert.equal(messageLength(Buffer.concat([bytes, bytes])), bytes.length);
  assert.equal(messageLength(bytes.subarray(0, 15)), undefined);
  const { type, serial, path, member, values } = decodeMessage(bytes);
  assert.deepEqual([type, serial, path, member, values], ['call', 7, CALL.path, 'AddMatch', ['rule', -1]]);
});

test('a signal is decoded in its sender’s byte order', () => {
  for (const endian of ['little', 'big'] as const) {
    const bytes = signal(endian);
    assert.equal(messageLength(bytes), bytes.length);
    const { type, path, member, sender, values } = decodeMessage(bytes);
    assert.deepEqual([type, path, member, sender], ['signal', '/org/freedesktop/login1', 'PrepareForShutdown', ':1.5']);
    assert.deepEqual(values, [true]);
  }
});

test('truncated, corrupted and foreign messages throw errors', () => {
  const bytes = signal('little');
  for (let length = 16; length < bytes.length; length++) assert.throws(() => decodeMessage(bytes.subarray(0, length)));
  assert.throws(() => messageLength(Buffer.from('HTTP/1.1 400 Bad Request')), { code: 'internal' });
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at] = changed[at]! ^ 0xff;
    try {
      assert.equal(typeof decodeMessage(changed).serial, 'number');
    } catch (error) {
      assert.ok(error instanceof Error && error.name !== 'AssertionError', `byte ${at}`);
    }
  }
});
