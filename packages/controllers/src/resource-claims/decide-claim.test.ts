import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import type { StoredClaim } from '../objects/resource-claim.ts';
import { type TestPod, testPod } from '../pods/test-pod.fixture.ts';
import { CLAIM_FINALIZER, decideClaim } from './decide-claim.ts';
import { claimFromTemplate } from './decide-pod-claims.ts';

const consumer = (name: string, uid = `uid-${name}`) => ({ resource: 'pods', name, uid });

type Given = {
  reservedFor?: { apiGroup?: string; resource: string; name: string; uid: string }[];
  pods?: TestPod[];
  isDeleting?: boolean;
  owner?: string;
  absent?: string[];
  finalizers?: string[];
};

function decide({ reservedFor, pods = [], isDeleting, owner, absent = [], finalizers = [CLAIM_FINALIZER] }: Given) {
  const controller = { apiVersion: 'v1', kind: 'Pod', name: owner ?? '', uid: `uid-${owner}`, controller: true };
  const claim: StoredClaim = {
    metadata: {
      namespace: 'shop',
      name: 'c',
      uid: 'u1',
      finalizers,
      ...(isDeleting ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
      ...(owner === undefined ? {} : { ownerReferences: [controller] }),
    },
    status: { allocation: {}, ...(reservedFor === undefined ? {} : { reservedFor }) },
  };
  const built: Pod[] = pods.map(testPod);
  const podOf = (name: string) => built.find(({ metadata }) => metadata.name === name);
  return decideClaim({ claim, podOf, absent: new Set(absent) });
}

function check(title: string, given: Given, expected: string) {
  test(`${title}: ${expected}`, () => {
    const { released, removesFinalizer, isUnused } = decide(given);
    const left = (released?.status?.reservedFor ?? []).map(({ name }) => name);
    const parts = [
      ...(released === undefined ? [] : [`reserved for ${left.join() || 'none'}`]),
      ...(released !== undefined && released.status?.allocation === undefined ? ['deallocated'] : []),
      ...(removesFinalizer ? ['no finalizer'] : []),
      ...(isUnused ? ['deleted'] : []),
    ];
    assert.equal(parts.join(', ') || 'unchanged', expected);
  });
}

check('running consumers', { reservedFor: [consumer('a')], pods: [{ name: 'a' }] }, 'unchanged');
check(
  'one consumer of two has ended',
  { reservedFor: [consumer('a'), consumer('b')], pods: [{ name: 'a' }, { name: 'b', phase: 'Failed' }] },
  'reserved for a',
);
check(
  'the last consumer has ended',
  { reservedFor: [consumer('a')], pods: [{ name: 'a', phase: 'Succeeded' }] },
  'reserved for none, deallocated, no finalizer',
);
check(
  'the last consumer was replaced',
  { reservedFor: [consumer('a', 'other')], pods: [{ name: 'a' }] },
  'reserved for none, deallocated, no finalizer',
);
check(
  'a deleted pod without a node',
  { reservedFor: [consumer('a')], pods: [{ name: 'a', node: '', isDeleting: true }] },
  'reserved for none, deallocated, no finalizer',
);
check(
  'a deleted pod on a node',
  { reservedFor: [consumer('a')], pods: [{ name: 'a', isDeleting: true }] },
  'unchanged',
);
check('a consumer that is not known yet', { reservedFor: [consumer('a')] }, 'unchanged');
check(
  'a consumer that does not exist',
  { reservedFor: [consumer('a')], absent: ['uid-a'] },
  'reserved for none, deallocated, no finalizer',
);
check('a consumer of another kind', { reservedFor: [{ ...consumer('a'), apiGroup: 'x' }] }, 'unchanged');
check(
  'the allocation of another controller',
  { reservedFor: [consumer('a')], absent: ['uid-a'], finalizers: [] },
  'reserved for none',
);
check('a deleted claim without consumers', { isDeleting: true }, 'reserved for none, deallocated, no finalizer');
check('an allocated claim without consumers', {}, 'unchanged');
check('a claim of a pod that has ended', { owner: 'a', pods: [{ name: 'a', phase: 'Failed' }] }, 'deleted');
check('a claim of a running pod', { owner: 'a', pods: [{ name: 'a' }] }, 'unchanged');

test('a claim has its template’s metadata and spec, and a name derived from pod and claim', () => {
  const template = {
    metadata: { namespace: 'shop', name: 't', uid: 't1' },
    spec: { metadata: { labels: { a: 'b' }, annotations: { c: 'd' } }, spec: { devices: {} } },
  };
  assert.deepEqual(claimFromTemplate(testPod({ name: 'web' }), 'gpu', template), {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: {
      generateName: 'web-gpu-',
      namespace: 'shop',
      labels: { a: 'b' },
      annotations: { c: 'd', 'resource.kubernetes.io/pod-claim-name': 'gpu' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'uid-web', controller: true }],
    },
    spec: { devices: {} },
  });
  const long = claimFromTemplate(testPod({ name: 'p'.repeat(60) }), 'c'.repeat(20), template).metadata.generateName!;
  assert.ok(long.length <= 57 && long.includes('p-c'), long);
});
