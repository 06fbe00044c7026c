import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TextLines } from './text-lines.ts';

test('an offset is converted to an editor’s line and column', () => {
  const text = 'a\n\nbc\r\n  d\n';
  const lines = new TextLines(text);
  const places = [...text, ''].map((_, offset) => lines.positionOf(offset));
  assert.deepEqual(
    places.map(({ line, column }) => `${line}:${column}`),
    ['1:1', '1:2', '2:1', '3:1', '3:2', '3:3', '3:4', '4:1', '4:2', '4:3', '4:4', '5:1'],
  );
});

test('positions in text with many lines are correct', () => {
  const text = Array.from({ length: 3000 }, (_, index) => 'x'.repeat(index % 7)).join('\n');
  const lines = new TextLines(text);
  for (let offset = 0; offset < text.length; offset += 13) {
    const before = text.slice(0, offset).split('\n');
    assert.deepEqual(lines.positionOf(offset), { line: before.length, column: before.at(-1)!.length + 1 });
  }
  assert.deepEqual(new TextLines('').positionOf(0), { line: 1, column: 1 });
});
