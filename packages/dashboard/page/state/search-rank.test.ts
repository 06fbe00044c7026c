import assert from 'node:assert/strict';
import { test } from 'node:test';
import { search } from './search-rank.ts';

const entry = (kind: string, name: string, namespace = 'default') => ({ kind, name, namespace, href: `#${name}` });
const ENTRIES = [
  entry('Pod', 'web-frontend-1'),
  entry('Deployment', 'web-frontend'),
  entry('Service', 'my-web'),
  entry('Pod', 'cobweb'),
  entry('ConfigMap', 'settings', 'web'),
  entry('page', 'Events', ''),
];
const found = (text: string) => search(text, ENTRIES).map(({ entry: { name } }) => name);

test('matches at the start of names come first, then of parts, then in namespaces, then anywhere', () => {
  assert.deepEqual(found('web'), ['web-frontend', 'web-frontend-1', 'my-web', 'settings', 'cobweb']);
  assert.deepEqual(found('wfr'), ['web-frontend', 'web-frontend-1']);
  assert.deepEqual(found('EVENTS'), ['Events']);
});

test('all words must match, in the name, the kind or the namespace', () => {
  assert.deepEqual(found('pod web'), ['web-frontend-1', 'cobweb']);
  assert.deepEqual(found('web/settings'), ['settings']);
  assert.deepEqual(found('web nothing'), []);
  assert.deepEqual(found('  '), []);
});
