import assert from 'node:assert/strict';
import { test } from 'node:test';
import { showsPatch } from './metadata-patch.ts';

test('a label that has the name of what every object has is one like any other', () => {
  const metadata = { name: 'a', namespace: 'default', uid: '1', labels: { constructor: 'b' } };
  assert.ok(showsPatch(metadata, { labels: { toString: null, constructor: 'b' } }));
  assert.ok(!showsPatch(metadata, { labels: { toString: 'c' } }));
  assert.ok(!showsPatch(metadata, { labels: { constructor: null } }));
});
