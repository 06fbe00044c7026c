/** Annotations in which a Deployment records revisions and sizes on its ReplicaSets. */
import type { Deployment } from '../objects/deployment.ts';
import type { ReplicaSet } from '../objects/replica-set.ts';
import { maxSurge, wantedReplicas } from './replica-counts.ts';

export const REVISION = 'deployment.kubernetes.io/revision';
const REVISION_HISTORY = 'deployment.kubernetes.io/revision-history';
const DESIRED_REPLICAS = 'deployment.kubernetes.io/desired-replicas';
const MAX_REPLICAS = 'deployment.kubernetes.io/max-replicas';
/** Annotations of a Deployment that are not copied to its ReplicaSets. */
const OWN = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  'deprecated.deployment.rollback.to',
  REVISION,
  REVISION_HISTORY,
  DESIRED_REPLICAS,
  MAX_REPLICAS,
]);
/** Maximum length of the revision history, in characters. */
const MAX_HISTORY_LENGTH = 2000;

type Annotations = Record<string, string>;

/** Returns the revision of a ReplicaSet: 0 if it has none, undefined if it is not a number. */
export function revisionOf({ metadata: { annotations } }: ReplicaSet): number | undefined {
  return parseRevision(annotations?.[REVISION]);
}

/** Returns the revision that follows those of the old ReplicaSets. */
export function nextRevision(oldSets: readonly ReplicaSet[]): number {
  return Math.max(0, ...oldSets.map((one) => revisionOf(one) ?? 0)) + 1;
}

/**
 * Returns the annotations of the new ReplicaSet: the Deployment's, and the revision, which never decreases. A revision replaced because of
 * a rollback is added to the history (deploymentutil.SetNewReplicaSetAnnotations).
 */
export function newSetAnnotations(deployment: Deployment, before: Annotations, revision: number): Annotations {
  const copied = Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => !OWN.has(key));
  const annotations = { ...before, ...Object.fromEntries(copied) };
  const known = parseRevision(before[REVISION]);
  if (known === undefined || known >= revision) return annotations;
  const history = before[REVISION] === undefined ? undefined : extendedHistory(before, before[REVISION]);
  return {
    ...annotations,
    [REVISION]: String(revision),
    ...(history === undefined ? {} : { [REVISION_HISTORY]: history }),
  };
}

/** Returns the Deployment with this revision in its annotation. */
export function withRevisionAnnotation(deployment: Deployment, revision: string): Deployment {
  const { annotations = {} } = deployment.metadata;
  if (annotations[REVISION] === revision) return deployment;
  return {
    ...deployment,
    metadata: { ...deployment.metadata, annotations: { ...annotations, [REVISION]: revision } },
  };
}

/** Returns a ReplicaSet's annotations with the Deployment's desired size, and its maximum size during a rollout, added. */
export function withSizes(deployment: Deployment, annotations: Annotations = {}): Annotations {
  const wanted = wantedReplicas(deployment);
  const sizes = { [DESIRED_REPLICAS]: String(wanted), [MAX_REPLICAS]: String(wanted + maxSurge(deployment)) };
  return { ...annotations, ...sizes };
}

export function hasSizes(deployment: Deployment, { metadata: { annotations = {} } }: ReplicaSet): boolean {
  const sizes = withSizes(deployment);
  return Object.entries(sizes).every(([key, value]) => annotations[key] === value);
}

/** Returns the Deployment's desired size when it last scaled the ReplicaSet. */
export function recordedWanted(replicaSet: ReplicaSet): number | undefined {
  return recordedNumber(replicaSet, DESIRED_REPLICAS);
}

/** Returns the Deployment's maximum size when it last scaled the ReplicaSet. */
export function recordedMost(replicaSet: ReplicaSet): number | undefined {
  return recordedNumber(replicaSet, MAX_REPLICAS);
}

function recordedNumber({ metadata: { annotations } }: ReplicaSet, key: string): number | undefined {
  const text = annotations?.[key] ?? '';
  return /^\d{1,10}$/.test(text) && Number(text) < 2 ** 31 ? Number(text) : undefined;
}

function parseRevision(text = ''): number | undefined {
  if (text === '') return 0;
  return /^[+-]?\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Returns the revision history with `revision` appended. Drops the oldest revisions if it becomes too long. */
function extendedHistory(before: Annotations, revision: string): string | undefined {
  const known = (before[REVISION_HISTORY] ?? '').split(',').filter((one) => one !== '');
  for (let from = 0; from <= known.length; from++) {
    const history = [...known.slice(from), revision].join(',');
    if (history.length <= MAX_HISTORY_LENGTH) return history;
  }
  return undefined;
}
