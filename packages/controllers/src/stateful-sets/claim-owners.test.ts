import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject, OwnerReference } from '@podwright/kube-api';
import type { ClaimRetention } from '../objects/stateful-set.ts';
import { changedOwners, isStaleClaim } from './claim-owners.ts';
import { newStatefulSet, statefulPod } from './stateful-set.fixture.ts';

const owner = (kind: 'StatefulSet' | 'Pod', uid: string, rest: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: kind === 'Pod' ? 'v1' : 'apps/v1',
  kind,
  name: kind === 'Pod' ? 'db-1' : 'db',
  uid,
  controller: true,
  blockOwnerDeletion: true,
  ...rest,
});
const SET = owner('StatefulSet', 'u1');
const POD = owner('Pod', 'uid-1');
const OTHER: OwnerReference = { apiVersion: 'x/v1', kind: 'Backup', name: 'b', uid: 'u9' };

const claimOf = (ownerReferences: OwnerReference[]): KubeObject => ({
  metadata: { name: 'data-db-1', ownerReferences },
});

/** Asserts the owner references that a claim should have. `policy`: the set's `whenDeleted` and `whenScaled`, in this order. */
function check(
  policy: [ClaimRetention, ClaimRetention],
  { known = [], isCondemned = false }: { known?: OwnerReference[]; isCondemned?: boolean },
  expected: OwnerReference[] | undefined,
) {
  const [whenDeleted, whenScaled] = policy;
  const set = newStatefulSet({ persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled } });
  const input = { claim: claimOf(known), set, pod: statefulPod(set, 1), isCondemned };
  assert.deepEqual(changedOwners(input), expected);
}

test('a claim is owned by the set, its condemned pod, or neither', () => {
  check(['Retain', 'Retain'], {}, undefined);
  check(['Retain', 'Retain'], { known: [SET, OTHER] }, [OTHER]);
  check(['Delete', 'Retain'], {}, [SET]);
  check(['Delete', 'Retain'], { known: [SET] }, undefined);
  check(['Delete', 'Retain'], { known: [SET], isCondemned: true }, undefined);
  check(['Retain', 'Delete'], {}, undefined);
  check(['Retain', 'Delete'], { isCondemned: true }, [POD]);
  check(['Delete', 'Delete'], { known: [SET], isCondemned: true }, [POD]);
  check(['Delete', 'Delete'], { known: [POD], isCondemned: false }, [SET]);
});

test('an owner reference that does not control the claim is corrected', () => {
  check(['Delete', 'Retain'], { known: [owner('StatefulSet', 'u1', { controller: false })] }, [SET]);
});

test('claims of earlier objects and other controllers are left alone', () => {
  check(['Delete', 'Delete'], { known: [owner('StatefulSet', 'old')] }, undefined);
  check(['Delete', 'Retain'], { known: [{ ...OTHER, controller: true }] }, undefined);
  check(['Delete', 'Retain'], { known: [{ ...OTHER, controller: true }, SET] }, [{ ...OTHER, controller: true }]);
});

test('a former pod’s claim is stale if scaling down deletes claims', () => {
  const isStale = (whenScaled: ClaimRetention, known: OwnerReference[]) =>
    isStaleClaim(newStatefulSet({ persistentVolumeClaimRetentionPolicy: { whenScaled } }), claimOf(known), 'db-1');
  assert.deepEqual(
    [isStale('Delete', [POD]), isStale('Retain', [POD]), isStale('Delete', [SET])],
    [true, false, false],
  );
});
