/** Rollouts of workloads that are in progress or make no progress. Pure functions. */
import { matchesLabelSelector } from '@podwright/kube-api';
import { type Workload, workloadState } from '@podwright/kube-view';
import type { KubeObject, ObjectName } from '../api/objects.ts';
import type { PodView } from './trouble.ts';

/** The workload kinds that have rollouts. */
export const ROLLED_KINDS = ['Deployment', 'StatefulSet', 'DaemonSet'] as const;

export type Rollout = {
  object: ObjectName;
  /** The desired number of pods. */
  wanted: number;
  /** Number of pods with the current template. */
  updated: number;
  /** Number of available pods, regardless of their template. */
  available: number;
  /** Number of remaining pods with earlier templates. */
  old: number;
  progress: string;
  /** Whether the rollout makes no progress: its controller has reported a failure, or a pod with the current template fails. */
  isStuck: boolean;
  failure?: string;
};

type Rolled = Workload &
  KubeObject & { spec?: { selector?: Parameters<typeof matchesLabelSelector>[0] }; status?: Record<string, unknown> };

/**
 * Returns the rollout of a Deployment, StatefulSet or DaemonSet. `views`: the pods, of this and other workloads. Returns undefined if the
 * rollout is complete, even if pods have failed since then.
 */
export function rolloutOf(kind: string, object: KubeObject, views: readonly PodView[]): Rollout | undefined {
  const workload = { ...object, kind } as Rolled;
  const state = workloadState(workload);
  if (state.isComplete && state.failure === undefined) return undefined;
  const status = workload.status ?? {};
  const count = (...fields: string[]): number => {
    const value = fields.map((field) => status[field]).find((one) => typeof one === 'number');
    return (value as number | undefined) ?? 0;
  };
  const total = count('replicas', 'currentNumberScheduled');
  const updated = count('updatedReplicas', 'updatedNumberScheduled');
  const wanted = state.wanted ?? workload.spec?.replicas ?? 0;
  const old = Math.max(0, total - updated);
  const isRolledOut = state.wanted !== undefined && updated >= wanted && old === 0 && !isRolling(workload);
  if (isRolledOut && state.failure === undefined) return undefined;
  return {
    object: { kind, namespace: object.metadata.namespace ?? '', name: object.metadata.name ?? '' },
    ...{ wanted, updated, old },
    available: count('availableReplicas', 'numberAvailable'),
    progress: state.progress,
    failure: state.failure,
    isStuck: state.failure !== undefined || hasFailingPod(workload, views),
  };
}

/**
 * Whether the controller is still waiting for the pods of the current template. A Deployment has the reason NewReplicaSetAvailable once
 * all of them have been available, and retains it when they fail later.
 */
function isRolling({ kind, status = {} }: Rolled): boolean {
  if (kind === 'StatefulSet') return status.currentRevision !== status.updateRevision;
  const progressing = (status.conditions ?? []).find(({ type }) => type === 'Progressing');
  return progressing !== undefined && progressing.reason !== 'NewReplicaSetAvailable';
}

/** Whether a pod of the workload fails that has the same template as its newest pod. */
function hasFailingPod({ metadata, spec }: Rolled, views: readonly PodView[]): boolean {
  const own = views.filter(
    ({ pod }) =>
      pod.metadata.namespace === metadata.namespace && matchesLabelSelector(spec?.selector, pod.metadata.labels),
  );
  const [newest] = own.toSorted((a, b) => createdMs(b) - createdMs(a));
  return own.some((view) => view.level === 'failing' && revisionOf(view) === revisionOf(newest!));
}

const createdMs = ({ pod }: PodView): number => Date.parse(pod.metadata.creationTimestamp ?? '') || 0;

/** Returns the hash of the template that a controller has created the pod from. */
const revisionOf = ({ pod: { metadata } }: PodView): string | undefined =>
  metadata.labels?.['pod-template-hash'] ?? metadata.labels?.['controller-revision-hash'];
