import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCode } from '@podwright/base';
import { fuzz, pieces } from '../../base/src/fuzz.fixture.ts';
import { MAX_MESSAGE_BYTES } from './limits.ts';
import { MessageReader, withPrefix } from './message-reader.ts';

/** Reads a body that arrives in the given chunks. Returns its messages as text, or the error code if reading fails. */
function read(chunks: Iterable<Buffer>): string[] | string {
  const reader = new MessageReader();
  try {
    return [...chunks].flatMap((chunk) => reader.push(chunk)).map((message) => message.toString('latin1'));
  } catch (error) {
    return errorCode(error);
  }
}

function check(body: Buffer, expected: string[] | string): void {
  assert.deepEqual(read([body]), expected, body.toString('hex').slice(0, 40));
}

test('a body is split into its messages', () => {
  const [one, none] = [withPrefix(Buffer.from('one')), withPrefix(Buffer.alloc(0))];
  check(Buffer.alloc(0), []);
  check(one, ['one']);
  check(Buffer.concat([none, one, one, none]), ['', 'one', 'one', '']);
  check(Buffer.concat([one, one.subarray(0, 7)]), ['one']);
  check(Buffer.from([1, 0, 0, 0, 1, 0]), 'unimplemented');
  check(Buffer.from([0, 0xff, 0xff, 0xff, 0xff]), 'resource_exhausted');
  check(withPrefix(Buffer.alloc(MAX_MESSAGE_BYTES + 1)), 'resource_exhausted');
  assert.equal(read([withPrefix(Buffer.alloc(MAX_MESSAGE_BYTES))])[0]?.length, MAX_MESSAGE_BYTES);
});

test('raw messages contain their prefixes, and share memory with the chunk unless they arrive in several chunks', () => {
  const reader = new MessageReader(undefined, { isRaw: true });
  const body = Buffer.concat([withPrefix(Buffer.from('one')), withPrefix(Buffer.from('other')).subarray(0, 7)]);
  const [one, ...others] = reader.push(body);
  assert.deepEqual([one!.buffer === body.buffer, one!.subarray(5).toString(), others], [true, 'one', []]);
  const [other] = reader.push(Buffer.from('her'));
  assert.equal(other!.subarray(5).toString(), 'other');
});

test('a body has the same messages however it is chunked', async () => {
  const sample = Buffer.concat(['', 'a', 'bc'.repeat(300), ''].map((text) => withPrefix(Buffer.from(text))));
  await fuzz({ samples: [sample], rounds: 3000 }, (input, random) => {
    const whole = read([input]);
    const cut = read(pieces(random, input));
    if (typeof whole === 'string') assert.equal(cut, whole);
    else assert.deepEqual(cut, whole);
  });
});
