import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linesOf } from './lines.ts';

async function check(chunks: string[], expected: string[]): Promise<void> {
  const source = (async function* () {
    for (const chunk of chunks) yield Buffer.from(chunk);
  })();
  const lines: string[] = [];
  for await (const line of linesOf(source, 4)) lines.push(line);
  assert.deepEqual(lines, expected);
}

test('lines are complete, wherever the chunks end', async () => {
  await check([], []);
  await check(['a\nbc\n'], ['a', 'bc']);
  await check(['a', '', '\n', '\n', 'b', 'c'], ['a', '', 'bc']);
});

test('an overlong line is split into pieces', async () => {
  await check(['abc', 'defghij\nk'], ['abcd', 'efgh', 'ij', 'k']);
  await check(Array<string>(9).fill('x'), ['xxxx', 'xxxx', 'x']);
});
