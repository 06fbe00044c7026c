import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LineSplitter, linesOf } from './lines.ts';

test('lines do not depend on chunk boundaries', () => {
  const text = 'one\ntwo\n\nthree';
  for (let size = 1; size <= text.length; size++) {
    const splitter = new LineSplitter();
    const lines: string[] = [];
    for (let at = 0; at < text.length; at += size) lines.push(...splitter.push(text.slice(at, at + size)));
    assert.deepEqual([...lines, splitter.end()], ['one', 'two', '', 'three'], `chunks of ${size}`);
  }
});

test('an overlong line is truncated, and the next one is complete', () => {
  const splitter = new LineSplitter(4);
  assert.deepEqual(splitter.push('abc'), []);
  assert.deepEqual(splitter.push('def'), []);
  assert.deepEqual(splitter.push('ghi\nxy\n'), ['abcd', 'xy']);
  assert.deepEqual(splitter.push('123456\nz'), ['1234']);
  assert.equal(splitter.end(), 'z');
});

test('a multibyte character split across chunks is decoded', async () => {
  const bytes = new TextEncoder().encode('ä€\nb');
  async function* chunks() {
    for (const byte of bytes) yield new Uint8Array([byte]);
  }
  const lines: string[] = [];
  for await (const batch of linesOf(chunks())) lines.push(...batch);
  assert.deepEqual(lines, ['ä€', 'b']);
});
