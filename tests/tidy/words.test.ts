/** Counts words that obscure who is acting, or for which there is a better one: the number may only go down. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { read, sources, tracked } from './source-tree.ts';

const SELF = 'tests/tidy/words.test.ts';
/** Words to replace. Write instead: reported, notified; report, log; again; the caller, no client; next to, besides; request; was there. */
const WORDS = /\b(?:told|tells?|anew|whoever|nobody|beside|wish|stood)\b/gi;
/** Maximum number of these words in sources and documents. Lower it whenever the number drops; never raise it. */
const MAX_WORDS = 26;

test('the number of words that plain English avoids only decreases', () => {
  const documents = tracked.filter((path) => path.endsWith('.md') && path !== 'CHANGELOG.md');
  const counts = [...sources, ...documents]
    .filter((path) => path !== SELF)
    .map((path) => ({ path, words: read(path).match(WORDS) ?? [] }))
    .filter(({ words }) => words.length > 0)
    .sort((a, b) => b.words.length - a.words.length);
  const total = counts.reduce((sum, { words }) => sum + words.length, 0);
  const worst = counts.slice(0, 10).map(({ path, words }) => `${path}: ${words.length}`);
  assert.ok(total <= MAX_WORDS, `${total} of at most ${MAX_WORDS}; most of them in\n${worst.join('\n')}`);
});
