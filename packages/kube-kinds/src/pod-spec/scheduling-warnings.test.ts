import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Field } from '../field.ts';
import { schedulingWarnings } from './scheduling-warnings.ts';

test('a term with hundreds of thousands of invalid values has warnings for them', () => {
  const expression = { key: 'zone', operator: 'In', values: new Array(200_000).fill('-') };
  const preferred = [{ weight: 1, preference: { matchExpressions: [expression] } }];
  const spec = { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } } };
  assert.equal(schedulingWarnings(spec, new Field('spec')).length, 200_000);
});
