/** Rollouts of workloads that are in progress or have failed. Pure functions. */
import { type Workload, workloadState } from '@podwright/kube-view';
import type { KubeObject, ObjectName } from '../api/objects.ts';

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
  failure?: string;
};

/** Returns the rollout of a Deployment, StatefulSet or DaemonSet, or undefined if it is complete. */
export function rolloutOf(kind: string, object: KubeObject): Rollout | undefined {
  const workload = { ...object, kind } as Workload & KubeObject;
  const state = workloadState(workload);
  if (state.isComplete && state.failure === undefined) return undefined;
  const status = workload.status ?? {};
  const count = (...fields: string[]): number => {
    const value = fields.map((field) => status[field]).find((one) => typeof one === 'number');
    return (value as number | undefined) ?? 0;
  };
  const total = count('replicas', 'currentNumberScheduled');
  const updated = count('updatedReplicas', 'updatedNumberScheduled');
  return {
    object: { kind, namespace: object.metadata.namespace ?? '', name: object.metadata.name ?? '' },
    wanted: state.wanted ?? workload.spec?.replicas ?? 0,
    updated,
    available: count('availableReplicas', 'numberAvailable'),
    old: Math.max(0, total - updated),
    progress: state.progress,
    failure: state.failure,
  };
}
