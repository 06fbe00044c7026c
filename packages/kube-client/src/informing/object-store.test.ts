import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '@podwright/kube-api';
import { ObjectStore } from './object-store.ts';
import { compareVersions } from './resource-version.ts';

/** Parses `a1@5`: object `a` with UID `a1` at version 5. */
function object(text: string): KubeObject {
  const [uid = '', resourceVersion] = text.split('@');
  return { metadata: { name: uid[0], uid, resourceVersion } };
}

const shown = ({ type, object: { metadata } }: { type: string; object: KubeObject }) =>
  `${type} ${metadata.uid}@${metadata.resourceVersion}`;

/**
 * Applies events such as `ADDED a1@5` to an object store, and asserts which changes are reported. `LIST a1@5 b1@6` replaces all objects;
 * `RESTART …` replaces them as after a restore from a backup.
 */
function check(events: string[], expected: string[]): void {
  const store = new ObjectStore<KubeObject>();
  const changes = events.flatMap((event) => {
    const [type, ...objects] = event.split(' ');
    if (type === 'LIST' || type === 'RESTART') return store.replace(objects.map(object), type === 'RESTART');
    return store.apply(type as 'ADDED', object(objects[0]!));
  });
  assert.deepEqual(changes.map(shown), expected, events.join(', '));
}

test('events in order are applied', () => {
  check(['ADDED a1@1', 'MODIFIED a1@2', 'DELETED a1@3'], ['ADDED a1@1', 'MODIFIED a1@2', 'DELETED a1@3']);
  check(['MODIFIED a1@2'], ['ADDED a1@2']);
  check(['DELETED a1@2'], []);
});

test('repeated and late events have no effect', () => {
  check(['ADDED a1@5', 'ADDED a1@5', 'MODIFIED a1@5'], ['ADDED a1@5']);
  check(['ADDED a1@5', 'MODIFIED a1@9', 'MODIFIED a1@8'], ['ADDED a1@5', 'MODIFIED a1@9']);
  check(['ADDED a1@5', 'MODIFIED a1@10', 'MODIFIED a1@9'], ['ADDED a1@5', 'MODIFIED a1@10']);
  check(['ADDED a1@5', 'DELETED a1@7', 'MODIFIED a1@6', 'ADDED a1@5'], ['ADDED a1@5', 'DELETED a1@7']);
  check(['DELETED a1@7', 'ADDED a1@5'], []);
});

test('an object recreated with the same name is a different one', () => {
  check(['ADDED a1@5', 'MODIFIED a2@9'], ['ADDED a1@5', 'DELETED a1@5', 'ADDED a2@9']);
  check(['ADDED a1@5', 'ADDED a2@9', 'DELETED a1@8'], ['ADDED a1@5', 'DELETED a1@5', 'ADDED a2@9']);
  check(['ADDED a2@9', 'ADDED a1@5'], ['ADDED a2@9']);
  check(['ADDED a1@5', 'DELETED a2@9'], ['ADDED a1@5', 'DELETED a1@5']);
});

test('an object may stop matching a selector and match it again', () => {
  check(['ADDED a1@5', 'DELETED a1@7', 'ADDED a1@9'], ['ADDED a1@5', 'DELETED a1@7', 'ADDED a1@9']);
  check(['ADDED a1@9', 'DELETED a1@7'], ['ADDED a1@9']);
});

test('a list reports objects deleted, added and modified since', () => {
  check(
    ['LIST a1@1 b1@2', 'LIST b1@3 c1@4'],
    ['ADDED a1@1', 'ADDED b1@2', 'DELETED a1@1', 'MODIFIED b1@3', 'ADDED c1@4'],
  );
  check(['LIST a1@5', 'LIST a1@5'], ['ADDED a1@5']);
  check(['LIST a1@5', 'LIST a1@4'], ['ADDED a1@5']);
});

test('a server restored from a backup returns to older versions', () => {
  check(['LIST a1@50 b1@60', 'RESTART a1@20'], ['ADDED a1@50', 'ADDED b1@60', 'DELETED b1@60', 'MODIFIED a1@20']);
  check(['ADDED a1@50', 'DELETED a1@60', 'RESTART a1@20'], ['ADDED a1@50', 'DELETED a1@60', 'ADDED a1@20']);
});

test('if versions are not numbers, the later event is newer', () => {
  check(['ADDED a1@x', 'MODIFIED a1@b'], ['ADDED a1@x', 'MODIFIED a1@b']);
});

test('versions are compared as numbers of any length', () => {
  const sign = (a: string, b: string) => Math.sign(compareVersions(a, b) ?? Number.NaN);
  assert.deepEqual([sign('9', '10'), sign('10', '9'), sign('7', '7')], [-1, 1, 0]);
  assert.equal(sign('9007199254740993', '9007199254740992'), 1);
  for (const odd of ['', '0', '01', '-1', '1e3', undefined])
    assert.equal(compareVersions(odd as string, '5'), undefined);
});
