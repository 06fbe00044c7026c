import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectorText } from './selector-text.ts';

test('selectors are formatted as in queries, sorted by label', () => {
  const selector = {
    matchLabels: { tier: 'front', app: 'web' },
    matchExpressions: [
      { key: 'zone', operator: 'In' as const, values: ['b', 'a'] },
      { key: 'old', operator: 'DoesNotExist' as const },
      { key: 'env', operator: 'NotIn' as const, values: ['dev'] },
      { key: 'x', operator: 'Exists' as const },
    ],
  };
  assert.equal(selectorText(selector), 'app=web,env notin (dev),!old,tier=front,x,zone in (a,b)');
  assert.equal(selectorText(undefined), '');
});
