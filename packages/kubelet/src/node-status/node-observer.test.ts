import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addReserves, hardEvictionReserve } from './hard-eviction.ts';
import { abilitiesStatus, nodeImages, plainVersion } from './node-observer.ts';

const image = (id: string, size: number, repoTags: string[] = [], repoDigests: string[] = []) => ({
  ...{ id, size: BigInt(size), repoTags, repoDigests },
});

test('the largest images are reported, with up to five names each, digests first', () => {
  const tags = ['t1', 't2', 't3', 't4'];
  const all = [image('a', 5, ['small']), image('b', 7, tags, ['d1', 'd2']), image('c', 7, ['c']), image('d', 0)];
  assert.deepEqual(nodeImages(all, 3), [
    { names: ['c'], sizeBytes: 7 },
    { names: ['d1', 'd2', 't1', 't2', 't3'], sizeBytes: 7 },
    { names: ['small'], sizeBytes: 5 },
  ]);
  assert.equal(nodeImages(all, -1).length, 4);
  assert.deepEqual(nodeImages(all, 0), []);
});

test('runtime versions are formatted like upstream does', () => {
  const versions = ['v1.7.0', '1.6.20~ds1', '0.1.0-rc.1+x', '28.0', 'unknown', '2.0.0 (x)'];
  assert.deepEqual(versions.map(plainVersion), ['1.7.0', '1.6.20', '0.1.0-rc.1+x', '28.0', undefined, '2.0.0']);
});

test('hard eviction thresholds for memory and disk are reserved, with percentages relative to capacity', () => {
  const capacity = { memory: '8145780Ki', 'ephemeral-storage': '20519696Ki' };
  const thresholds = { 'memory.available': '100Mi', 'nodefs.available': '10%', 'imagefs.available': '15%' };
  assert.deepEqual(hardEvictionReserve(thresholds, capacity), {
    memory: '104857600',
    'ephemeral-storage': String(Math.trunc(20519696 * 1024 * Math.fround(Math.fround(10) / 100))),
  });
  assert.deepEqual(hardEvictionReserve({}, capacity), {});
  assert.deepEqual(addReserves({ memory: '1Gi', cpu: '100m' }, { memory: '1' }), {
    ...{ memory: `${2 ** 30 + 1}000000000n`, cpu: '100000000n' },
  });
});

test('runtime handlers are reported sorted by name, and only once the runtime has reported them', () => {
  assert.deepEqual(abilitiesStatus(undefined), {});
  const features = { recursiveReadOnlyMounts: true, userNamespaces: true };
  const handlers = [{ name: 'runc', features }, { name: '' }];
  assert.deepEqual(abilitiesStatus({ handlers, features: { supplementalGroupsPolicy: true } }), {
    runtimeHandlers: [
      { name: '', features: { recursiveReadOnlyMounts: false, userNamespaces: false } },
      { name: 'runc', features },
    ],
    features: { supplementalGroupsPolicy: true },
  });
});
