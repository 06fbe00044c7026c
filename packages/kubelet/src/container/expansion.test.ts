import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expand } from './expansion.ts';

const variables = new Map([
  ['A', '1'],
  ['B', '$(A)'],
  ['EMPTY', ''],
  ['odd name', 'x'],
  ['$(A', 'y'],
]);

test('references are replaced once, and escapes and unknown names are preserved', () => {
  const table: [string, string][] = [
    ['', ''],
    ['$(A)', '1'],
    ['x$(A)y$(A)', 'x1y1'],
    ['$(B)', '$(A)'],
    ['$(EMPTY)', ''],
    ['$(odd name)', 'x'],
    ['$(NONE)', '$(NONE)'],
    ['$$(A)', '$(A)'],
    ['$$$(A)', '$1'],
    ['$$$$(A)', '$$(A)'],
    ['$', '$'],
    ['$$', '$'],
    ['a$', 'a$'],
    ['$A', '$A'],
    ['$(A', '$(A'],
    ['$(', '$('],
    ['$()', '$()'],
    ['$($(A))', 'y)'],
    ['$(A)$(', '1$('],
    [')$(A', ')$(A'],
    ['\n$(A)\n', '\n1\n'],
  ];
  for (const [text, expected] of table)
    assert.equal(
      expand(text, (name) => variables.get(name)),
      expected,
      text,
    );
});

test('references that make a text too long are rejected, but long text without references is accepted', () => {
  const lookup = () => 'x'.repeat(100_000);
  assert.equal(expand('$(A)', lookup).length, 100_000);
  assert.throws(() => expand('$(A)$(A)', lookup), { code: 'failed_precondition', message: /128 KiB or more/ });
  assert.equal(expand('y'.repeat(1 << 20), lookup).length, 1 << 20);
});
