import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TokenCache } from './tokens.ts';

test('a token is valid once, for a minute', () => {
  let now = 0;
  const tokens = new TokenCache<string>(() => now);
  const [once, late] = [tokens.insert('once'), tokens.insert('late')];
  assert.equal(tokens.take(once), 'once');
  assert.equal(tokens.take(once), undefined);
  assert.equal(tokens.take('never given'), undefined);
  now = 60_000;
  assert.equal(tokens.take(late), undefined);
});

test('at most a thousand requests wait, and expired ones make room', () => {
  let now = 0;
  const tokens = new TokenCache<number>(() => now);
  const given = new Set(Array.from({ length: 1000 }, (_, index) => tokens.insert(index)));
  assert.equal(given.size, 1000);
  assert.throws(() => tokens.insert(0), { code: 'resource_exhausted' });
  now = 60_000;
  assert.match(tokens.insert(0), /^[\w-]{22}$/);
});
