import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matchesLabelSelector } from './label-selector.ts';
import type { LabelSelector } from './scheduling.ts';

const LABELS = { app: 'web', tier: 'front' };

function check(selector: LabelSelector | undefined, expected: boolean, labels: Record<string, string> = LABELS) {
  assert.equal(matchesLabelSelector(selector, labels), expected, JSON.stringify(selector));
}

test('an absent selector matches nothing, and an empty one everything', () => {
  check(undefined, false);
  check({}, true);
  check({}, true, {});
});

test('all matchLabels must match', () => {
  check({ matchLabels: { app: 'web' } }, true);
  check({ matchLabels: { app: 'web', tier: 'back' } }, false);
  check({ matchLabels: { constructor: 'web' } }, false);
});

test('expressions compare values, and all must match', () => {
  check({ matchExpressions: [{ key: 'app', operator: 'In', values: ['db', 'web'] }] }, true);
  check({ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }, false);
  check({ matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['web'] }] }, false);
  check({ matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['a'] }] }, true);
  check({ matchExpressions: [{ key: 'app', operator: 'Exists' }] }, true);
  check({ matchExpressions: [{ key: 'toString', operator: 'Exists' }] }, false);
  check({ matchExpressions: [{ key: 'zone', operator: 'DoesNotExist' }] }, true);
  check({ matchLabels: { app: 'web' }, matchExpressions: [{ key: 'zone', operator: 'Exists' }] }, false);
});
