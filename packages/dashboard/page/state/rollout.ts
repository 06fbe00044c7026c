/** Workloads that are being changed, or cannot go on. Pure. */
import { type Workload, workloadState } from '@podwright/kube-view';
import type { KubeObject, ObjectName } from '../api/objects.ts';

export type Rollout = {
  object: ObjectName;
  /** Pods that the workload keeps, that have the new template, and that are available. */
  wanted: number;
  updated: number;
  available: number;
  /** Pods of an earlier template that still run. */
  old: number;
  progress: string;
  failure?: string;
};

/** Returns how far a Deployment, StatefulSet or DaemonSet has come; undefined if it is complete. */
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
