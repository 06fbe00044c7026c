import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DiffLine, diffLines, hunks } from './line-diff.ts';

const signs = { same: ' ', removed: '-', added: '+' };
const shown = (lines: DiffLine[]) => lines.map(({ kind, text }) => signs[kind] + text).join(' ');
const before = (lines: DiffLine[]) => lines.filter(({ kind }) => kind !== 'added').map(({ text }) => text);
const after = (lines: DiffLine[]) => lines.filter(({ kind }) => kind !== 'removed').map(({ text }) => text);

test('a diff is minimal', () => {
  const check = (a: string, b: string, expected: string) =>
    assert.equal(shown(diffLines(a.replaceAll(' ', '\n'), b.replaceAll(' ', '\n'))), expected);
  check('a b c', 'a b c', ' a  b  c');
  check('a b c', 'a x c', ' a -b +x  c');
  check('a b', 'a b c', ' a  b +c');
  check('a b c', 'c', '-a -b  c');
  check('a b c a b b a', 'c b a b a c', '-a -b  c +b  a  b -b  a +c');
});

test('random texts can both be rebuilt from their diff', () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return Math.floor((seed / 2147483648) * below);
  };
  for (let round = 0; round < 500; round++) {
    const [a, b] = [0, 1].map(() => Array.from({ length: random(12) }, () => 'abc'[random(3)]!).join('\n'));
    const lines = diffLines(a!, b!);
    assert.deepEqual([before(lines).join('\n'), after(lines).join('\n')], [a, b]);
  }
});

test('texts with too many changes yield one removed and one added block', () => {
  const text = (letter: string) => Array.from({ length: 3000 }, (_, index) => letter + index).join('\n');
  const lines = diffLines(text('a'), text('b'));
  assert.deepEqual([lines.length, lines[0]?.kind, lines.at(-1)?.kind], [6000, 'removed', 'added']);
});

test('unchanged lines far from a change are omitted', () => {
  const text = Array.from({ length: 20 }, (_, index) => String(index));
  const parts = hunks(diffLines(text.join('\n'), text.with(10, 'x').join('\n')), 1);
  assert.deepEqual(
    parts.map((part) => (part.kind === 'skipped' ? part.count : signs[part.kind] + part.text)),
    [9, ' 9', '-10', '+x', ' 11', 8],
  );
});
