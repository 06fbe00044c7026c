import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FilteredLines, filterProblem, lineTest } from './log-filter.ts';
import type { LogLine } from './log-line.ts';

const line = (text: string, source = 0): LogLine => ({ time: '', source, text });

test('a filter is case-insensitive text or a regular expression', () => {
  const check = (text: string, expected: boolean) =>
    assert.equal(lineTest({ text, hidden: new Set([9]) })!(line('GET /Health 200')), expected, text);
  check('health', true);
  check('POST', false);
  check('/get .* \\d+$/', true);
  check('/^post/', false);
  check('/(/', false);
  assert.equal(lineTest({ text: '', hidden: new Set() }), undefined);
  assert.equal(lineTest({ text: '', hidden: new Set([1]) })!(line('x', 1)), false);
});

test('the filter finds lines after others are added, inserted and removed', () => {
  const filtered = new FilteredLines();
  filtered.setFilter({ text: 'a', hidden: new Set() });
  const [a, b, c] = [line('a1'), line('b'), line('a2')];
  assert.deepEqual(filtered.of([a, b]), [a]);
  assert.deepEqual(filtered.of([a, b, c]), [a, c]);
  assert.deepEqual(filtered.of([a, c, b, c]), [a, c, c]);
  assert.deepEqual(filtered.of([c]), [c]);
  assert.deepEqual(filtered.of([]), []);
  filtered.setFilter({ text: '', hidden: new Set() });
  assert.deepEqual(filtered.of([a, b]), [a, b]);
});

test('an invalid regular expression is reported, and plain text is not', () => {
  assert.match(filterProblem('/fatal(/') ?? '', /Invalid regular expression/);
  for (const text of ['', 'fatal(', '/fatal', '//', '/fatal/']) assert.equal(filterProblem(text), undefined, text);
});
