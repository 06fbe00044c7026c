import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { configurationOf, isMirror, isUnchanged, withoutResize } from './applied-configuration.ts';

const METADATA = { name: 'web', namespace: 'default', uid: '', labels: { app: 'web' } };

test('a configuration excludes fields that the server sets or the kubelet adds', () => {
  const annotations = { note: 'a', 'kubernetes.io/config.source': 'file', 'podwright.dev/config.file': '/x' };
  const system = { uid: 'u', resourceVersion: '7', generation: 1, managedFields: [], creationTimestamp: 'now' };
  const given = { apiVersion: 'v1', kind: 'Pod', metadata: { ...METADATA, annotations, ...system }, status: {} };
  const metadata = { name: 'web', namespace: 'default', labels: { app: 'web' }, annotations: { note: 'a' } };
  assert.deepEqual(configurationOf(given), { apiVersion: 'v1', kind: 'Pod', metadata });
  const bare = { kind: 'RuntimeClass', metadata: { name: 'fast', namespace: '', annotations: undefined } };
  assert.deepEqual(configurationOf(bare), { kind: 'RuntimeClass', metadata: { name: 'fast' } });
});

test('the owners and the version of an object do not count as changes', () => {
  const before = { metadata: { name: 'web', resourceVersion: '1', managedFields: [] }, data: { a: 'b' } };
  const check = (after: object, expected: boolean) =>
    assert.equal(isUnchanged(before, { ...before, ...after }), expected);
  check({ metadata: { name: 'web', resourceVersion: '2', managedFields: [{}] } }, true);
  check({ metadata: { name: 'web', labels: { a: 'b' } } }, false);
  check({ data: { a: 'c' } }, false);
});

test('a resize is separated from other changes to a pod', () => {
  const podOf = (containers: object[]) => ({ metadata: METADATA, spec: { containers } }) as unknown as Pod;
  const wanted = podOf([{ name: 'a', resources: { limits: { cpu: '2' } } }, { name: 'b' }]);
  const existing = podOf([{ name: 'a', resources: { limits: { cpu: '1' } } }]);
  const { pod, resize } = withoutResize(wanted, existing);
  assert.deepEqual((pod as unknown as Pod).spec.containers, [...existing.spec.containers, { name: 'b' }]);
  const containers = [
    { name: 'a', resources: { limits: { cpu: '2' } } },
    { name: 'b', resources: {} },
  ];
  assert.deepEqual(resize, { spec: { containers } });
});

test('only a pod with the mirror annotation is a mirror pod', () => {
  assert.equal(isMirror({ metadata: {} }), false);
  assert.equal(isMirror({ metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } }), true);
});
