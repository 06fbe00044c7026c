import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '@podwright/kube-api';
import { CONFIG_MAPS, type InformerChange } from '@podwright/kube-client';
import { ObjectCache } from './object-cache.ts';

type Options = ConstructorParameters<typeof ObjectCache<KubeObject>>[1] extends (options: infer O) => unknown
  ? O
  : never;

const object = (name: string, version: number, rest: Partial<KubeObject['metadata']> = {}): KubeObject => ({
  metadata: { namespace: 'shop', name, uid: `uid-${name}`, resourceVersion: String(version), ...rest },
});

/** A cache whose informer is controlled by the test. */
function open() {
  const reported = new Map<string, KubeObject>();
  const options: Options[] = [];
  const cache = new ObjectCache<KubeObject>(CONFIG_MAPS, (given) => {
    options.push(given);
    return {
      synced: Promise.resolve(),
      hasSynced: () => true,
      get: ({ name }) => reported.get(name),
      list: () => [...reported.values()],
      problem: () => undefined,
      reread: () => undefined,
      stop: () => undefined,
    };
  });
  const changes: string[] = [];
  cache.onChange(({ type, object: { metadata } }) => {
    changes.push(`${type} ${metadata.name}@${metadata.resourceVersion}`);
  });
  const report = (type: InformerChange<KubeObject>['type'], one: KubeObject) => {
    if (type === 'DELETED') reported.delete(one.metadata.name!);
    else reported.set(one.metadata.name!, one);
    options[0]!.onChange({ type, object: one });
    options[0]!.onProgress(one.metadata.resourceVersion!);
  };
  const progress = (version: number) => options[0]!.onProgress(String(version));
  const versionOf = (name: string) => cache.get({ namespace: 'shop', name })?.metadata.resourceVersion;
  return { cache, changes, report, progress, versionOf };
}

test('an own write is visible immediately and reported once', () => {
  const { cache, changes, report, versionOf } = open();
  cache.written(object('a', 5));
  assert.equal(versionOf('a'), '5');
  report('ADDED', object('a', 5));
  assert.deepEqual(changes, ['ADDED a@5']);
});

test('stale informer states do not replace an own write', () => {
  const { cache, changes, report, versionOf } = open();
  report('ADDED', object('a', 3));
  cache.written(object('a', 7));
  report('MODIFIED', object('a', 5));
  assert.equal(versionOf('a'), '7');
  report('MODIFIED', object('a', 9));
  assert.deepEqual(changes, ['ADDED a@3', 'MODIFIED a@7', 'MODIFIED a@9']);
});

test('an own write deleted by another client before the response arrived does not reappear', () => {
  const { cache, report, versionOf } = open();
  report('ADDED', object('a', 5));
  report('DELETED', object('a', 6));
  cache.written(object('a', 5));
  assert.equal(versionOf('a'), undefined);
});

test('an own write is dropped if the informer has passed its version without it', () => {
  const { cache, changes, progress, versionOf } = open();
  cache.written(object('a', 5));
  progress(4);
  assert.equal(versionOf('a'), '5');
  progress(8);
  assert.equal(versionOf('a'), undefined);
  assert.deepEqual(changes, ['ADDED a@5', 'DELETED a@5']);
});

test('an object deleted by this process has a deletion timestamp until the informer reports one', () => {
  const { cache, report } = open();
  const deletion = () => cache.get({ namespace: 'shop', name: 'a' })?.metadata.deletionTimestamp;
  report('ADDED', object('a', 3));
  cache.deleting({ namespace: 'shop', name: 'a' }, 'uid-a');
  assert.notEqual(deletion(), undefined);
  report('MODIFIED', object('a', 5));
  assert.notEqual(deletion(), undefined);
  report('MODIFIED', object('a', 6, { deletionTimestamp: '2026-01-01T00:00:00Z' }));
  assert.equal(deletion(), '2026-01-01T00:00:00Z');
});

test('a new object with a removed one’s name is reported as removed and added', () => {
  const { changes, report } = open();
  report('ADDED', object('a', 3));
  report('MODIFIED', object('a', 5, { uid: 'other' }));
  assert.deepEqual(changes, ['ADDED a@3', 'DELETED a@3', 'ADDED a@5']);
});

test('objects are found by controller and namespace', () => {
  const { cache, report } = open();
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'u1', controller: true };
  report('ADDED', object('a', 3, { ownerReferences: [owner] }));
  report('ADDED', object('b', 4));
  assert.deepEqual(
    cache.controlledBy('shop', 'u1').map(({ metadata }) => metadata.name),
    ['a'],
  );
  const claimable = () => cache.claimable('shop', 'u1').map(({ metadata }) => metadata.name);
  assert.deepEqual(claimable(), ['a', 'b']);
  report('MODIFIED', object('a', 5));
  assert.deepEqual(cache.controlledBy('shop', 'u1'), []);
  assert.deepEqual(claimable(), ['b', 'a']);
  assert.deepEqual([cache.list('shop').length, cache.list('other').length, cache.list().length], [2, 0, 2]);
  report('DELETED', object('a', 6));
  assert.equal(cache.list().length, 1);
});

test('objects in another namespace do not belong to an owner with the same UID', () => {
  const { cache, report } = open();
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'u1', controller: true };
  report('ADDED', object('a', 3, { namespace: 'other', ownerReferences: [owner] }));
  assert.deepEqual([cache.controlledBy('shop', 'u1'), cache.claimable('shop', 'u1')], [[], []]);
  assert.equal(cache.controlledBy('other', 'u1').length, 1);
});
