import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Volume } from '../objects/storage.ts';
import { directoryClaims } from './directory-claims.ts';

const volume = (name: string, more: { phase?: string; annotations?: Record<string, string> } = {}) =>
  ({
    metadata: {
      name,
      annotations: { 'pv.kubernetes.io/provisioned-by': 'podwright.dev/directory', ...more.annotations },
    },
    spec: { capacity: { storage: '1Gi' }, claimRef: { namespace: 'shop', name: 'data', uid: name.slice(4) } },
    status: { phase: more.phase ?? 'Bound' },
  }) as unknown as Volume;

test('only directory provisioner claims are listed, with their volumes’ directories', () => {
  const others = { annotations: { 'pv.kubernetes.io/provisioned-by': 'csi.example.com' } };
  const found = directoryClaims(
    [volume('pvc-1'), volume('pvc-2', { phase: 'Released' }), volume('pvc-3', others)],
    '/v',
  );
  assert.deepEqual(found, [
    { namespace: 'shop', name: 'data', path: '/v/pvc-1', capacityBytes: 1n << 30n },
    { namespace: 'shop', name: 'data, retained as pvc-2', path: '/v/pvc-2' },
  ]);
});
