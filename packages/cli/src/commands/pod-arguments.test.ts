import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@podwright/kubelet';
import { chooseContainer, parseSelector, podName } from './pod-arguments.ts';

test('a pod is named with or without its type', () => {
  for (const argument of ['web', 'pod/web', 'pods/web', 'po/web', 'Pod/web']) assert.equal(podName(argument), 'web');
  for (const argument of ['deployment/web', 'pod/', 'pod/a/b', '/web']) {
    assert.throws(() => podName(argument), { code: 'invalid_argument', message: /NAME or pod\/NAME is needed/ });
  }
});

function pod(containers: string[], more: { init?: string[]; annotations?: Record<string, string> } = {}): Pod {
  const named = (names: string[]) => names.map((name) => ({ name, image: 'x' }));
  return {
    metadata: { name: 'web', namespace: 'default', uid: '1', annotations: more.annotations },
    spec: { containers: named(containers), initContainers: named(more.init ?? []) },
  } as unknown as Pod;
}

test('a container is the one named, the annotated one, or the first, and the choice is told', () => {
  const annotations = { 'kubectl.kubernetes.io/default-container': 'b' };
  const gone = { 'kubectl.kubernetes.io/default-container': 'gone' };
  assert.deepEqual(chooseContainer(pod(['a']), undefined), { name: 'a' });
  assert.deepEqual(chooseContainer(pod(['a', 'b']), 'b'), { name: 'b' });
  assert.deepEqual(chooseContainer(pod(['a'], { init: ['i'] }), 'i'), { name: 'i' });
  assert.deepEqual(chooseContainer(pod(['a', 'b'], { annotations }), undefined), { name: 'b' });
  const note = 'Defaulted container "a" out of: a, b, i (init)';
  assert.deepEqual(chooseContainer(pod(['a', 'b'], { init: ['i'] }), undefined), { name: 'a', note });
  assert.equal(chooseContainer(pod(['a', 'b'], { annotations: gone }), undefined).name, 'a');
  assert.throws(() => chooseContainer(pod(['a', 'b'], { init: ['i'] }), 'c'), {
    code: 'not_found',
    message: 'pod web has no container c; it has a, b, i (init)',
  });
});

test('labels are selected as kubectl selects them', () => {
  const labels = { app: 'web', tier: 'front', 'example.com/x': '' };
  const check = (selector: string, expected: boolean) =>
    assert.equal(parseSelector(selector)(labels), expected, selector);
  check('app=web', true);
  check('app==web,tier=front', true);
  check('app=web,tier=back', false);
  check('app!=db', true);
  check('none!=db', true);
  check('app in (db, web)', true);
  check('app in (db)', false);
  check('app notin (db,x), tier', true);
  check('none notin (a)', true);
  check('example.com/x=', true);
  check('!none', true);
  check('!app', false);
  check('none', false);
  for (const wrong of ['', 'a=b=c', 'a=b,', '!a=b', 'a in b', 'a b', '(a)']) {
    assert.throws(() => parseSelector(wrong), { code: 'invalid_argument', message: /KEY=VALUE/ });
  }
});
