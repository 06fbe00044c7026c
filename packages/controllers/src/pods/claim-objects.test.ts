import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '@podwright/kube-api';
import { claimOf } from './claim-objects.ts';
import type { Owner } from './controller-reference.ts';

const OWNER: Owner = { metadata: { namespace: 'shop', name: 'web', uid: 'u1' } };
const SELECTOR = { matchLabels: { app: 'web' } };

function pod(name: string, app: string, controller?: string): KubeObject {
  const ownerReferences =
    controller === undefined
      ? []
      : [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: controller, controller: true }];
  return { metadata: { namespace: 'shop', name, labels: { app }, ownerReferences } };
}

const PODS = [
  pod('own', 'web', 'u1'),
  pod('left', 'db', 'u1'),
  pod('orphan', 'web'),
  pod('foreign', 'web', 'u2'),
  pod('other', 'db'),
];

function check(owner: Owner, expected: { owned: string[]; toAdopt: string[]; toRelease: string[] }) {
  const claim = claimOf({ owner, selector: SELECTOR, objects: PODS });
  const names = (objects: KubeObject[]) => objects.map(({ metadata }) => metadata.name);
  assert.deepEqual(
    { owned: names(claim.owned), toAdopt: names(claim.toAdopt), toRelease: names(claim.toRelease) },
    expected,
  );
}

test('matching orphans are adopted, nonmatching objects released, and those of others left alone', () => {
  check(OWNER, { owned: ['own'], toAdopt: ['orphan'], toRelease: ['left'] });
});

test('an owner that is being deleted neither adopts nor releases', () => {
  const deletionTimestamp = '2026-01-01T00:00:00Z';
  check({ metadata: { ...OWNER.metadata, deletionTimestamp } }, { owned: ['own'], toAdopt: [], toRelease: [] });
});

test('objects in other namespaces are left alone', () => {
  const objects = PODS.map((one) => ({ ...one, metadata: { ...one.metadata, namespace: 'other' } }));
  assert.deepEqual(claimOf({ owner: OWNER, selector: SELECTOR, objects }), { owned: [], toAdopt: [], toRelease: [] });
});
