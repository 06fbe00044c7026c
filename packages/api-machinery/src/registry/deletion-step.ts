/** Determines the effect of a DELETE on an object, like upstream's registry (rest.BeforeDelete and the generic store). */
import type { ApiObject } from '@podwright/kube-kinds';
import { FOREGROUND, ORPHAN } from '../metadata/reference-rules.ts';
import { timestamp } from '../timestamp.ts';
import type { DeleteOptions } from './delete-options.ts';
import type { ServedKind } from './served-kind.ts';

export type DeletionStep =
  /** The object is already marked for deletion, and the request does not change when it is removed. */
  | { kind: 'pending' }
  /** The object is not removed yet, because it has finalizers or a grace period. `object`: the version to store, marked for deletion. */
  | { kind: 'keep'; object: ApiObject }
  /** The object is removed from the store. `marked`: the object with a deletion timestamp, which watchers receive before the removal. */
  | { kind: 'remove'; marked?: ApiObject };

type Request = { options: DeleteOptions; nowMs: number };

export function deletionStep({ strategy }: ServedKind, old: ApiObject, { options, nowMs }: Request): DeletionStep {
  const { prepareForDelete, defersRemoval, gracePeriodSeconds } = strategy;
  const isFirst = old.metadata.deletionTimestamp === undefined;
  if (prepareForDelete !== undefined && isFirst)
    return { kind: 'keep', object: withPolicy(withDeletionTime(prepareForDelete(old), nowMs), options, 'background') };
  if (defersRemoval?.(old)) return { kind: 'pending' };
  const requested = atLeastOne(options.gracePeriodSeconds);
  const graceful =
    gracePeriodSeconds === undefined
      ? NOT_GRACEFUL
      : gracefulStep(old, { requested, nowMs, grace: gracePeriodSeconds });
  if (graceful.kind === 'pending') return graceful;
  const marked = graceful.kind === 'marked' ? graceful.object : undefined;
  const object = withPolicy(marked ?? old, options, strategy.defaultDeletion ?? 'background');
  if ((object.metadata.finalizers ?? []).length > 0)
    return { kind: 'keep', object: marked === undefined ? ended(object, nowMs) : object };
  if (marked === undefined) return { kind: 'remove' };
  return object.metadata.deletionGracePeriodSeconds === 0
    ? { kind: 'remove', marked: object }
    : { kind: 'keep', object };
}

/** Returns the grace period, or one second if it is negative. */
const atLeastOne = (seconds: number | undefined): number | undefined =>
  seconds !== undefined && seconds < 0 ? 1 : seconds;

/** Sets the deletion timestamp, but no grace period. Used for the first delete request if the kind's strategy has `prepareForDelete`. */
function withDeletionTime(object: ApiObject, nowMs: number): ApiObject {
  return { ...object, metadata: { ...object.metadata, deletionTimestamp: timestamp(nowMs) } };
}

/** Adds or removes the finalizers that control how the garbage collector handles dependents. */
function withPolicy(object: ApiObject, options: DeleteOptions, policy: 'orphan' | 'background'): ApiObject {
  const { finalizers: before = [], ...metadata } = object.metadata;
  const isOfPolicy = (name: string) => name === ORPHAN || name === FOREGROUND;
  const own = policyFinalizer(before, options, policy);
  if (before.filter(isOfPolicy).join() === (own ?? '')) return object;
  const others = before.filter((name) => !isOfPolicy(name));
  const after = own === undefined ? others : [...others, own];
  return { ...object, metadata: { ...metadata, ...(after.length === 0 ? {} : { finalizers: after }) } };
}

/**
 * Returns the finalizer for the requested propagation policy. If none is requested, returns the object's existing policy finalizer or that
 * of the kind's default policy.
 */
function policyFinalizer(
  finalizers: readonly string[],
  { orphanDependents, propagationPolicy }: DeleteOptions,
  policy: 'orphan' | 'background',
): string | undefined {
  if (orphanDependents !== undefined) return orphanDependents ? ORPHAN : undefined;
  if (propagationPolicy === 'Orphan') return ORPHAN;
  if (propagationPolicy === 'Foreground') return FOREGROUND;
  if (propagationPolicy === 'Background') return undefined;
  const own = finalizers.find((name) => name === ORPHAN || name === FOREGROUND);
  return own ?? (policy === 'orphan' ? ORPHAN : undefined);
}

/** Returns the object with its grace period expired, as it is removed or, if it has finalizers, as it waits for their removal. */
function ended(object: ApiObject, nowMs: number): ApiObject {
  const { deletionTimestamp, generation } = object.metadata;
  const isLater = deletionTimestamp === undefined || Date.parse(deletionTimestamp) > nowMs;
  const metadata = {
    ...object.metadata,
    deletionTimestamp: isLater ? timestamp(nowMs) : deletionTimestamp,
    deletionGracePeriodSeconds: 0,
    ...(generation !== undefined && deletionTimestamp === undefined ? { generation: generation + 1 } : {}),
  };
  return { ...object, metadata };
}

type Graceful = { kind: 'not-graceful' } | { kind: 'pending' } | { kind: 'marked'; object: ApiObject };

const NOT_GRACEFUL: Graceful = { kind: 'not-graceful' };

type GracefulRequest = {
  requested: number | undefined;
  nowMs: number;
  grace: (object: ApiObject, requested: number | undefined) => number | undefined;
};

function gracefulStep(old: ApiObject, { requested, nowMs, grace }: GracefulRequest): Graceful {
  if (old.metadata.deletionTimestamp !== undefined) return shortened(old, requested, nowMs);
  const seconds = grace(old, requested);
  if (seconds === undefined) return NOT_GRACEFUL;
  const { generation } = old.metadata;
  const metadata = {
    ...old.metadata,
    deletionTimestamp: timestamp(nowMs + seconds * 1000),
    deletionGracePeriodSeconds: seconds,
    ...(generation === undefined ? {} : { generation: generation + 1 }),
  };
  return { kind: 'marked', object: { ...old, metadata } };
}

/**
 * Shortens the remaining grace period of an object marked for deletion if the request asks for that. The grace period is never extended,
 * and its end is never in the past.
 */
function shortened(old: ApiObject, requested: number | undefined, nowMs: number): Graceful {
  const { deletionTimestamp = '', deletionGracePeriodSeconds } = old.metadata;
  if (!deletionGracePeriodSeconds) return NOT_GRACEFUL;
  const before = Math.max(deletionGracePeriodSeconds, 1);
  if (requested === undefined || requested >= before) return { kind: 'pending' };
  const end = Date.parse(deletionTimestamp) + (requested - before) * 1000;
  const isPast = end < nowMs;
  const metadata = {
    ...old.metadata,
    deletionTimestamp: timestamp(isPast ? nowMs : end),
    deletionGracePeriodSeconds: isPast && requested !== 0 ? 1 : requested,
  };
  return { kind: 'marked', object: { ...old, metadata } };
}
