import assert from 'node:assert/strict';
import { test } from 'node:test';
import { POD, parseObjects, podName } from './object-names.ts';

/** Parses command line words and returns the named objects as `kind/name`, or the kinds if no objects are named. */
function read(words: string, bare?: typeof POD): string {
  const { kinds, named } = parseObjects(words === '' ? [] : words.split(' '), { bare });
  if (named.length === 0) return kinds.map(({ kind }) => kind).join(' ');
  return named.map(({ kind, name }) => `${kind.kind}/${name}`).join(' ');
}

test('types are accepted in singular, plural or short form, in any case, and in lists', () => {
  const check = (words: string, expected: string) => assert.equal(read(words), expected);
  check('pods', 'Pod');
  check('PO', 'Pod');
  check('pods,cm,secret', 'Pod ConfigMap Secret');
  check('po,pods', 'Pod');
  check('ev', 'Event');
  check('pod a b', 'Pod/a Pod/b');
  check('pods,cm a', 'Pod/a ConfigMap/a');
  check('pod/a cm/b', 'Pod/a ConfigMap/b');
});

test('a name without a type is a pod if the command allows it', () => {
  const check = (words: string, expected: string) => assert.equal(read(words, POD), expected);
  check('web', 'Pod/web');
  check('web cm/b', 'Pod/web ConfigMap/b');
  check('pod web', 'Pod/web');
  check('pod/pod', 'Pod/pod');
  check('pod', 'Pod');
  check('', '');
});

test('an invalid name is refused with a hint', () => {
  const check = (words: string, message: RegExp, bare?: typeof POD) =>
    assert.throws(() => read(words, bare), { code: 'invalid_argument', message });
  check(
    'deployments',
    /^a standalone node has no deployments, only pods, configmaps, .*images; .*'podwright --api true node' or 'podwright up'$/,
  );
  check('pdos', /did you mean "pods"\?$/);
  check('pod pod/web', /^"pod pod\/web" says the type twice: write 'pod\/web' or 'pod web'$/);
  check('deploy/web', /^a standalone node has no deploy,/, POD);
  check('pods,deploy', /^a standalone node has no deploy,/, POD);
  for (const words of ['pod/', '/web', 'pod/a/b']) check(words, /is not TYPE\/NAME$/, POD);
});

test('pod-only commands also accept pod/NAME', () => {
  assert.equal(podName('web'), 'web');
  assert.equal(podName('pods/web'), 'web');
  assert.equal(podName('pod'), 'pod');
  assert.throws(() => podName('cm/web'), { message: 'cm/web: is a configmap; the name of a pod is needed' });
});
