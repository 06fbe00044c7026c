import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { chooseContainer } from './pod-arguments.ts';

function pod(containers: string[], more: { init?: string[]; annotations?: Record<string, string> } = {}): Pod {
  const named = (names: string[]) => names.map((name) => ({ name, image: 'x' }));
  return {
    metadata: { name: 'web', namespace: 'default', uid: '1', annotations: more.annotations },
    spec: { containers: named(containers), initContainers: named(more.init ?? []) },
  } as unknown as Pod;
}

test('the container is the requested, annotated or first one, with a note about the choice', () => {
  const annotations = { 'kubectl.kubernetes.io/default-container': 'b' };
  const missing = { 'kubectl.kubernetes.io/default-container': 'missing' };
  assert.deepEqual(chooseContainer(pod(['a']), undefined), { name: 'a' });
  assert.deepEqual(chooseContainer(pod(['a', 'b']), 'b'), { name: 'b' });
  assert.deepEqual(chooseContainer(pod(['a'], { init: ['i'] }), 'i'), { name: 'i' });
  assert.deepEqual(chooseContainer(pod(['a', 'b'], { annotations }), undefined), { name: 'b' });
  const note = 'Defaulted container "a" out of: a, b, i (init)';
  assert.deepEqual(chooseContainer(pod(['a', 'b'], { init: ['i'] }), undefined), { name: 'a', note });
  assert.equal(chooseContainer(pod(['a', 'b'], { annotations: missing }), undefined).name, 'a');
  assert.throws(() => chooseContainer(pod(['a', 'b'], { init: ['i'] }), 'c'), {
    code: 'not_found',
    message: 'pod web has no container c; it has a, b, i (init)',
  });
});
