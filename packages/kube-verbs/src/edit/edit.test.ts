import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Target } from '../target.ts';
import { editableValue, readEdits } from './edited-objects.ts';
import { mergePatchBetween } from './merge-patch-between.ts';

test('a merge patch sets what differs, removes what is absent, and replaces lists', () => {
  const check = (before: object, after: object, patch: object | undefined) =>
    assert.deepEqual(mergePatchBetween(before, after), patch);
  check({ a: { b: 1, c: [1] } }, { a: { b: 1, c: [1] } }, undefined);
  check({ a: { b: 1, c: 2 } }, { a: { b: 3 } }, { a: { b: 3, c: null } });
  check({ a: [{ n: 1 }, { n: 2 }] }, { a: [{ n: 1 }] }, { a: [{ n: 1 }] });
  check({ a: 1 }, { a: { b: 2 } }, { a: { b: 2 } });
  check({ a: { b: 2 } }, { a: 1, b: {} }, { a: 1, b: {} });
  check({ a: 1, b: null }, { a: null }, { a: null });
});

const KIND = {
  kind: 'Deployment',
  singular: 'deployment',
  plural: 'deployments',
  group: 'apps',
  version: 'v1',
  short: [],
  namespaced: true,
  categories: [],
  verbs: [],
  subresources: [],
};
const target = (name: string): Target => ({
  kind: KIND,
  path: `/${name}`,
  object: {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default', uid: `uid-${name}`, managedFields: [{}] } as Target['object']['metadata'],
    spec: { replicas: 1 },
  },
});

test('changes to an object or list are read from JSON or YAML', () => {
  const one = editableValue([target('a')]) as Target['object'];
  assert.equal('managedFields' in one.metadata, false);
  const text = JSON.stringify({ ...one, spec: { replicas: 2 } });
  assert.deepEqual(
    readEdits(text, [target('a')]).map(({ patch }) => patch),
    [{ spec: { replicas: 2 } }],
  );
  const list = editableValue([target('a'), target('b')]) as { items: Target['object'][] };
  const [a, b] = list.items;
  const edits = readEdits(JSON.stringify({ ...list, items: [b, { ...a, spec: {} }] }), [target('a'), target('b')]);
  assert.deepEqual(
    edits.map(({ target: { path }, patch }) => [path, patch]),
    [
      ['/b', undefined],
      ['/a', { spec: { replicas: null } }],
    ],
  );
});

test('text that cannot be parsed, has other objects or changes their identity is rejected', () => {
  const refuse = (text: string, message: RegExp, targets = [target('a')]) =>
    assert.throws(() => readEdits(text, targets), { code: 'invalid_argument', message });
  refuse('a: b: c', /^line 1, column \d+: /);
  refuse('', /no object/);
  refuse('a: 1\n---\na: 2\n', /several documents/);
  refuse('a: 1\na: 2\n', /line 2: duplicate field a/);
  refuse('apiVersion: apps/v2\n', /deployment\.apps\/a: apiVersion must stay apps\/v1/);
  refuse('apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: c}\n', /metadata\.name must stay a/);
  refuse('[]', /apiVersion must stay/);
  refuse('items: 1', /not a list/, [target('a'), target('b')]);
  refuse('items: [{metadata: {uid: x}}]', /metadata\.uid "x", which is not being edited/, [target('a'), target('b')]);
});
