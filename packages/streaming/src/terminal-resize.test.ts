import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { randomBytes, randomPieces, seededRandom } from './random.fixture.ts';
import { parseSize, readSizes } from './terminal-resize.ts';

test('a terminal size is a JSON object with a valid width and height', () => {
  assert.deepEqual(parseSize('{"Width":80,"Height":24}\n'), { Width: 80, Height: 24 });
  for (const wrong of [
    '',
    'null',
    '[]',
    '{}',
    '{"Width":80}',
    '{"Width":-1,"Height":1}',
    '{"Width":65536,"Height":1}',
    '{"Width":"80","Height":24}',
    '{"Width":1.5,"Height":2}',
  ])
    assert.equal(parseSize(wrong), undefined, wrong);
});

/** Returns the terminal sizes that are read from a resize stream with these chunks. */
async function sizesIn(pieces: Iterable<Buffer>): Promise<string[]> {
  const stream = new PassThrough();
  const seen: string[] = [];
  readSizes(stream, ({ Width, Height }) => seen.push(`${Width}x${Height}`));
  for (const piece of pieces) stream.write(piece);
  stream.end();
  await new Promise((resolve) => stream.once('end', resolve));
  return seen;
}

test('terminal sizes are parsed from arbitrary chunks, and junk between them is ignored', async () => {
  const bytes = Buffer.from('{"Width":80,"Height":24}\n{"Width":0,"Height":24}{"Width":100,"Height":30}');
  assert.deepEqual(await sizesIn([...bytes].map((byte) => Buffer.from([byte]))), ['80x24', '100x30']);
  const junk = Buffer.alloc(10_000, 'x');
  assert.deepEqual(await sizesIn([junk, bytes]), ['80x24', '100x30']);
});

test('any bytes are accepted without an error', async () => {
  const random = seededRandom(33);
  for (let round = 0; round < 50; round++) {
    const bytes = Buffer.concat([randomBytes(random, random(100)), Buffer.from('}{"Width":1,"Height":2}')]);
    const sizes = await sizesIn(randomPieces(random, bytes));
    assert.ok(sizes.length <= 2);
  }
});
