import assert from 'node:assert/strict';
import { test } from 'node:test';
import { indexOfText, lastIndexOfText, splitAt } from './text-search.ts';

test('a substring is found at the same indexes as in JavaScript', () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2 ** 31;
    return seed % below;
  };
  const textOf = (length: number) => Array.from({ length }, () => 'ab'[random(8) === 0 ? 1 : 0]).join('');
  for (let round = 0; round < 500; round++) {
    const text = textOf(random(300)) + textOf(40).repeat(random(4));
    const part = round % 2 === 0 ? textOf(33 + random(20)) : text.slice(random(50), 90);
    if (part === '') continue;
    const from = random(text.length + 5);
    assert.equal(indexOfText(text, part, from), text.indexOf(part, from));
    assert.equal(lastIndexOfText(text, part, from), text.lastIndexOf(part, from));
    assert.deepEqual(splitAt(text, part), text.split(part));
  }
});

test('searching a long text for a long substring that nearly matches everywhere takes linear time', () => {
  const [text, part] = ['a'.repeat(1_000_000), `${'a'.repeat(250_000)}b${'a'.repeat(250_000)}`];
  const startMs = performance.now();
  assert.equal(indexOfText(text, part), -1);
  assert.equal(lastIndexOfText(text, part, text.length), -1);
  assert.deepEqual(splitAt(text, part), [text]);
  assert.ok(performance.now() - startMs < 2000, `${performance.now() - startMs} ms`);
});
