import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AdmissionAttributes } from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';
import { PolicyAnnotations } from './policy-annotations.ts';

test('different values of an annotation are joined, and long values are truncated', () => {
  const annotations = new PolicyAnnotations();
  const policy = { metadata: { name: 'p' } } as ApiObject;
  for (const value of ['a', 'b', 'a'])
    annotations.add(policy, {
      failures: [],
      annotations: [
        { key: 'short', value },
        { key: 'none', problem: 'x' },
      ],
    });
  for (const letter of ['c', 'd'])
    annotations.add(policy, { failures: [], annotations: [{ key: 'long', value: letter.repeat(3 << 20) }] });
  const found: [string, string][] = [];
  const annotate = (key: string, value: string) => found.push([key, value]);
  annotations.publish({ annotate } as unknown as AdmissionAttributes);
  assert.deepEqual(found, [
    ['p/short', 'a, b'],
    ['p/long', 'c'.repeat(10 * 1024)],
  ]);
});
