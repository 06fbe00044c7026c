/** Decides what a DELETE does to an object, like upstream's registry. */
import { type ApiObject, textAt } from './json.ts';
import { timestamp } from './object-meta.ts';
import type { ResourceKind } from './resource-kinds.ts';
import { invalid } from './status-error.ts';

export type DeleteOptions = {
  gracePeriodSeconds?: number;
  preconditions?: { uid?: string; resourceVersion?: string };
  propagationPolicy?: string;
};

export type DeletionStep =
  /** The object is being deleted already, not later than requested. */
  | { kind: 'pending' }
  /** The object is kept, with these changes. */
  | { kind: 'keep'; object: ApiObject }
  /** The object is removed; `marked` is the state that watchers receive first. */
  | { kind: 'remove'; marked?: ApiObject };

type Asked = { options: DeleteOptions; date: Date };

const FINALIZER_OF_POLICY: Record<string, string> = { Foreground: 'foregroundDeletion', Orphan: 'orphan' };
const POLICIES = ['Background', 'Foreground', 'Orphan'];

export function deletionStep(kind: ResourceKind, old: ApiObject, { options, date }: Asked): DeletionStep {
  const { propagationPolicy = 'Background' } = options;
  if (!POLICIES.includes(propagationPolicy))
    throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', [
      {
        reason: 'FieldValueNotSupported',
        message: `Unsupported value: ${JSON.stringify(propagationPolicy)}: supported values: "Foreground", "Background", "Orphan", "nil"`,
        field: 'propagationPolicy',
      },
    ]);
  if (kind.kind === 'Namespace') return namespaceStep(old, date);
  const graceful = kind.kind === 'Pod' ? gracefulStep(old, { options, date }) : { kind: 'now' as const };
  if (graceful.kind === 'pending') return graceful;
  const marked = graceful.kind === 'marked' ? graceful.object : undefined;
  const object = withPolicy(marked ?? old, propagationPolicy);
  if (object.metadata.finalizers?.length)
    return { kind: 'keep', object: marked === undefined ? ended(object, date) : object };
  return marked === undefined || marked.metadata.deletionGracePeriodSeconds === 0
    ? { kind: 'remove', marked }
    : { kind: 'keep', object: marked };
}

/** A namespace is kept until all its contents have been removed, and its own finalizer then. */
function namespaceStep(old: ApiObject, date: Date): DeletionStep {
  if (old.metadata.deletionTimestamp !== undefined) return { kind: 'pending' };
  const { deletionGracePeriodSeconds: _, ...metadata } = ended(old, date).metadata;
  return { kind: 'keep', object: { ...old, metadata, status: { ...old.status, phase: 'Terminating' } } };
}

function withPolicy(object: ApiObject, policy: string): ApiObject {
  const wanted = FINALIZER_OF_POLICY[policy];
  const given = object.metadata.finalizers ?? [];
  if (wanted === undefined || given.includes(wanted)) return object;
  return { ...object, metadata: { ...object.metadata, finalizers: [...given, wanted] } };
}

/** For kinds without a grace period: only finalizers delay their removal. */
function ended(object: ApiObject, date: Date): ApiObject {
  const { deletionTimestamp, generation } = object.metadata;
  const metadata = {
    ...object.metadata,
    deletionTimestamp: deletionTimestamp ?? timestamp(date),
    deletionGracePeriodSeconds: 0,
    ...(generation !== undefined && deletionTimestamp === undefined ? { generation: generation + 1 } : {}),
  };
  return { ...object, metadata };
}

type Graceful = { kind: 'now' } | { kind: 'pending' } | { kind: 'marked'; object: ApiObject };

function gracefulStep(pod: ApiObject, { options, date }: Asked): Graceful {
  const asked = options.gracePeriodSeconds;
  const requested = asked !== undefined && asked < 0 ? 1 : asked;
  if (pod.metadata.deletionTimestamp !== undefined) return shortened(pod, requested, date);
  const grace = graceOf(pod, requested);
  const { generation = 0 } = pod.metadata;
  const metadata = {
    ...pod.metadata,
    deletionTimestamp: later(date, grace),
    deletionGracePeriodSeconds: grace,
    generation: generation + 1,
  };
  return { kind: 'marked', object: { ...pod, metadata } };
}

/** A grace period can only be shortened. */
function shortened(pod: ApiObject, requested: number | undefined, date: Date): Graceful {
  const { deletionTimestamp = '', deletionGracePeriodSeconds: before = 0 } = pod.metadata;
  if (before === 0) return { kind: 'now' };
  if (requested === undefined || requested >= before) return { kind: 'pending' };
  const end = Date.parse(deletionTimestamp) + (requested - before) * 1000;
  const isPast = end < date.getTime();
  const metadata = {
    ...pod.metadata,
    deletionTimestamp: timestamp(isPast ? date : new Date(end)),
    deletionGracePeriodSeconds: isPast && requested !== 0 ? 1 : requested,
  };
  return { kind: 'marked', object: { ...pod, metadata } };
}

function graceOf(pod: ApiObject, requested: number | undefined): number {
  const isOver = ['Failed', 'Succeeded'].includes(textAt(pod, 'status', 'phase'));
  if (textAt(pod, 'spec', 'nodeName') === '' || isOver) return 0;
  const own = pod.spec?.terminationGracePeriodSeconds;
  const grace = requested ?? (typeof own === 'number' ? own : 0);
  return grace < 0 ? 1 : grace;
}

const later = (date: Date, seconds: number): string => timestamp(new Date(date.getTime() + seconds * 1000));
