/** Changes to a claim's status during node expansion, as the strategic merge patches sent by upstream. Pure. */
import type { BoundClaim, ClaimCondition, ClaimStatus } from '@podwright/kube-api';

/** Conditions that report on resizing (upstream's knownResizeConditions). */
const RESIZE_CONDITIONS = ['FileSystemResizePending', 'Resizing', 'ControllerResizeError', 'NodeResizeError'];

export type ClaimPatch = { metadata?: { resourceVersion: string }; status?: Record<string, unknown> };

/** Returns the patch to send before an expansion. The API server rejects it if the claim has changed since it was read. */
export function expansionInProgress(claim: BoundClaim): ClaimPatch {
  return versioned(claim, withStorageStatus(claim, 'NodeResizeInProgress'));
}

/**
 * Returns the patch to send after an expansion, which sets the claim's capacity to `size` and removes all its resize conditions and
 * statuses.
 */
export function expansionFinished(claim: BoundClaim, size: string): ClaimPatch {
  const { storage: _, ...statuses } = claim.status?.allocatedResourceStatuses ?? {};
  const conditions = (claim.status?.conditions ?? []).filter(({ type }) => !RESIZE_CONDITIONS.includes(type));
  return versioned(claim, {
    ...claim.status,
    capacity: { ...claim.status?.capacity, storage: size },
    allocatedResourceStatuses: Object.keys(statuses).length === 0 ? undefined : statuses,
    conditions: conditions.length === 0 ? undefined : conditions,
  });
}

export type Failure = { why: string; now: string };

/** Returns the patch to send if the driver has permanently rejected the size. The controller might then retry with a different size. */
export function expansionInfeasible(claim: BoundClaim, failure: Failure): ClaimPatch {
  return patchOf(claim, withFailure(claim, withStorageStatus(claim, 'NodeResizeInfeasible'), failure));
}

/** Returns the patch to send if the driver has failed to expand the volume. The kubelet retries. */
export function expansionFailed(claim: BoundClaim, failure: Failure): ClaimPatch {
  return patchOf(claim, withFailure(claim, { ...claim.status }, failure));
}

function withStorageStatus({ status }: BoundClaim, storage: string): ClaimStatus {
  return { ...status, allocatedResourceStatuses: { ...status?.allocatedResourceStatuses, storage } };
}

/** Adds a NodeResizeError condition to the claim's status. An existing one with status True is left unchanged, including its message. */
function withFailure({ status }: BoundClaim, changed: ClaimStatus, { why, now }: Failure): ClaimStatus {
  const condition: ClaimCondition = {
    type: 'NodeResizeError',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: now,
    message: `failed to expand pvc with ${why}`,
  };
  const before = status?.conditions ?? [];
  const isKnown = before.some(({ type }) => type === condition.type);
  const conditions = isKnown
    ? before.map((one) => (one.type === condition.type && one.status !== condition.status ? condition : one))
    : [...before, condition];
  return { ...changed, conditions };
}

function versioned(claim: BoundClaim, status: ClaimStatus): ClaimPatch {
  return { metadata: { resourceVersion: claim.metadata.resourceVersion ?? '' }, ...patchOf(claim, status) };
}

/** Returns a strategic merge patch that changes the claim's status to `changed`. Maps are patched by key, conditions by type. */
function patchOf({ status = {} }: BoundClaim, changed: ClaimStatus): ClaimPatch {
  const patch = {
    ...mapPatch('capacity', status, changed),
    ...mapPatch('allocatedResourceStatuses', status, changed),
    ...conditionsPatch(status.conditions ?? [], changed.conditions ?? []),
  };
  return Object.keys(patch).length === 0 ? {} : { status: patch };
}

function mapPatch(
  field: 'capacity' | 'allocatedResourceStatuses',
  before: ClaimStatus,
  after: ClaimStatus,
): Record<string, unknown> {
  const [from, to] = [before[field], after[field]];
  if (to === undefined) return from === undefined ? {} : { [field]: null };
  const changed = Object.entries(to).filter(([key, value]) => from?.[key] !== value);
  const removed = Object.keys(from ?? {}).filter((key) => !Object.hasOwn(to, key));
  const entries = [...changed, ...removed.map((key) => [key, null])];
  return entries.length === 0 ? {} : { [field]: Object.fromEntries(entries) };
}

function conditionsPatch(before: ClaimCondition[], after: ClaimCondition[]): Record<string, unknown> {
  if (after.length === 0) return before.length === 0 ? {} : { conditions: null };
  const find = (list: ClaimCondition[], type: string) => list.find((one) => one.type === type);
  const changed = after.filter((one) => JSON.stringify(find(before, one.type)) !== JSON.stringify(one));
  const removed = before.filter(({ type }) => find(after, type) === undefined);
  const conditions = [...changed, ...removed.map(({ type }) => ({ $patch: 'delete', type }))];
  if (conditions.length === 0) return {};
  return { '$setElementOrder/conditions': after.map(({ type }) => ({ type })), conditions };
}
