import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BoundClaim, ClaimStatus } from '@podwright/kube-api';
import {
  type ClaimPatch,
  expansionFailed,
  expansionFinished,
  expansionInfeasible,
  expansionInProgress,
} from './claim-patches.ts';

const NOW = '2026-11-23T10:00:00Z';
const claim = (status: ClaimStatus): BoundClaim => ({
  metadata: { name: 'data', namespace: 'shop', uid: 'u', resourceVersion: '7' },
  spec: {},
  status: { phase: 'Bound', capacity: { storage: '1Gi' }, ...status },
});
const PENDING = { type: 'FileSystemResizePending', status: 'True', lastProbeTime: null, lastTransitionTime: NOW };
const OTHER = { type: 'ModifyingVolume', status: 'True' };
const ERROR = {
  ...{ type: 'NodeResizeError', status: 'True', lastProbeTime: null, lastTransitionTime: NOW },
  message: 'failed to expand pvc with rpc error: no',
};
const FAILURE = { why: 'rpc error: no', now: NOW };
const check = (patch: ClaimPatch, expected: object) => assert.deepEqual(patch, expected);

test('the patch at the start of an expansion applies to one version of the claim', () => {
  const metadata = { resourceVersion: '7' };
  const pending = { allocatedResourceStatuses: { storage: 'NodeResizePending' } };
  const begun = { allocatedResourceStatuses: { storage: 'NodeResizeInProgress' } };
  check(expansionInProgress(claim(pending)), { metadata, status: begun });
  check(expansionInProgress(claim({})), { metadata, status: begun });
  check(expansionInProgress(claim(begun)), { metadata });
});

test('the patch at the end of an expansion sets the size and removes all related conditions', () => {
  const grown = (status: ClaimStatus) => expansionFinished(claim(status), '2Gi');
  const metadata = { resourceVersion: '7' };
  check(grown({}), { metadata, status: { capacity: { storage: '2Gi' } } });
  const allocatedResourceStatuses = { storage: 'NodeResizeInProgress' };
  check(grown({ allocatedResourceStatuses, conditions: [PENDING] }), {
    metadata,
    status: { capacity: { storage: '2Gi' }, allocatedResourceStatuses: null, conditions: null },
  });
  check(
    grown({ allocatedResourceStatuses: { ...allocatedResourceStatuses, other: 'x' }, conditions: [PENDING, OTHER] }),
    {
      metadata,
      status: {
        capacity: { storage: '2Gi' },
        allocatedResourceStatuses: { storage: null },
        '$setElementOrder/conditions': [{ type: 'ModifyingVolume' }],
        conditions: [{ $patch: 'delete', type: 'FileSystemResizePending' }],
      },
    },
  );
});

test('the patch after a failure includes the reason, and applies to any version of the claim', () => {
  check(expansionFailed(claim({ conditions: [PENDING] }), FAILURE), {
    status: {
      '$setElementOrder/conditions': [{ type: 'FileSystemResizePending' }, { type: 'NodeResizeError' }],
      conditions: [ERROR],
    },
  });
  check(expansionFailed(claim({ conditions: [{ ...ERROR, message: 'earlier' }] }), FAILURE), {});
  check(expansionInfeasible(claim({ allocatedResourceStatuses: { storage: 'NodeResizeInProgress' } }), FAILURE), {
    status: {
      allocatedResourceStatuses: { storage: 'NodeResizeInfeasible' },
      '$setElementOrder/conditions': [{ type: 'NodeResizeError' }],
      conditions: [ERROR],
    },
  });
});
