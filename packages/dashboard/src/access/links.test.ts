import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LINK_LIFE_MS, MAX_LINKS } from '../limits.ts';
import { Links } from './links.ts';

test('a token is valid only once', () => {
  const links = new Links();
  const token = links.issue(0);
  assert.equal(links.redeem(token, 1), true);
  assert.equal(links.redeem(token, 2), false);
});

test('a token is valid for five minutes', () => {
  const links = new Links();
  assert.equal(links.redeem(links.issue(0), LINK_LIFE_MS - 1), true);
  assert.equal(links.redeem(links.issue(0), LINK_LIFE_MS), false);
  assert.equal(links.redeem('guessed', 0), false);
  assert.equal(links.redeem('', 0), false);
});

test('the oldest token becomes invalid if there are too many', () => {
  const links = new Links();
  const tokens = Array.from({ length: MAX_LINKS + 1 }, () => links.issue(0));
  assert.deepEqual(
    tokens.map((token) => links.redeem(token, 1)),
    tokens.map((_, index) => index > 0),
  );
});
