import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolumeClaim, Pod } from '@podwright/kube-api';
import { claimObjects, refuseUsedClaim } from './claim-objects.ts';

const claim = (name: string): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace: 'default', uid: '' },
  spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '1Gi' } } },
});
const volume = (name: string) => ({ namespace: 'default', name, path: `/claims/default/${name}`, createdAtMs: 0 });

test('claims from manifests and claims without an object are listed, and bound once used by a pod', () => {
  const seen = claimObjects([claim('new'), claim('used')], [volume('used'), volume('bare')]).map(
    ({ metadata, spec, status }) => [
      metadata.name,
      status?.phase,
      status?.capacity?.storage,
      spec.accessModes?.[0],
      metadata.annotations?.['podwright.dev/directory'],
    ],
  );
  assert.deepEqual(seen, [
    ['new', 'Pending', undefined, 'ReadWriteMany', undefined],
    ['used', 'Bound', '1Gi', 'ReadWriteMany', '/claims/default/used'],
    ['bare', 'Bound', undefined, 'ReadWriteOnce', '/claims/default/bare'],
  ]);
});

test('a claim is not deleted while used by pods in its namespace', () => {
  const pod = (name: string, namespace: string, phase?: string) =>
    ({
      metadata: { name, namespace },
      spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] },
      status: phase === undefined ? undefined : { phase },
    }) as unknown as Pod;
  const pods = [pod('a', 'default'), pod('b', 'default', 'Running'), pod('c', 'default', 'Failed'), pod('d', 'other')];
  const refuse = (name: string) => refuseUsedClaim(pods, { namespace: 'default', name });
  assert.throws(() => refuse('data'), {
    code: 'failed_precondition',
    message: 'delete persistentvolumeclaim default/data: it is used by a, b; delete what uses it first',
  });
  refuse('other');
});
