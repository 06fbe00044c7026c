import assert from 'node:assert/strict';
import { PassThrough, type Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { splitFrames } from './output-frames.ts';

function frame(stream: number, payload: string): Buffer {
  const head = Buffer.alloc(8);
  head[0] = stream;
  head.writeUInt32BE(Buffer.byteLength(payload), 4);
  return Buffer.concat([head, Buffer.from(payload)]);
}

async function split(chunks: Buffer[], head = Buffer.alloc(0)): Promise<[string, string]> {
  const source = new PassThrough();
  const { stdout, stderr } = splitFrames(source, head);
  for (const chunk of chunks) source.write(chunk);
  source.end();
  return await Promise.all([text(stdout), text(stderr)]);
}

const bytes = Buffer.concat([frame(1, 'one '), frame(2, 'error'), frame(1, ''), frame(1, 'two')]);

test('frames are split by stream', async () => {
  assert.deepEqual(await split([bytes]), ['one two', 'error']);
});

test('chunks may split frames anywhere, even in the bytes that arrived with the head', async () => {
  const single = Array.from(bytes, (_byte, index) => bytes.subarray(index, index + 1));
  assert.deepEqual(await split(single), ['one two', 'error']);
  assert.deepEqual(await split([bytes.subarray(3)], bytes.subarray(0, 3)), ['one two', 'error']);
});

test('an error frame from the Engine fails both streams', async () => {
  await assert.rejects(split([frame(1, 'one'), frame(3, 'the log driver has ended')]), /the log driver has ended/);
});

test('a frame length of four gigabytes causes no allocation', async () => {
  const huge = Buffer.from([1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]);
  assert.deepEqual(await split([huge, Buffer.from('abc')]), ['abc', '']);
});

test('a slow reader pauses the source', async () => {
  const source = new PassThrough();
  const { stdout } = splitFrames(source, Buffer.alloc(0));
  const payload = 'x'.repeat(100_000);
  let isHeld = false;
  for (let index = 0; index < 100 && !isHeld; index++) {
    source.write(frame(1, payload));
    await new Promise(setImmediate);
    isHeld = source.isPaused();
  }
  assert.ok(isHeld);
  const read = text(stdout as Readable);
  source.end();
  assert.equal((await read).length % payload.length, 0);
});
