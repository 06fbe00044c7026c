import type { DaemonSetStatus } from '../objects/daemon-set.ts';
import { isReady } from '../pods/pod-state.ts';
import { isUpdated } from './daemon-pod.ts';
import { type DaemonSetView, isAvailablePod, oldestFirst } from './daemon-set-state.ts';

/** Computes the status (updateDaemonSetStatus). If a node has several pods, the oldest one counts. Unknown fields are preserved. */
export function daemonSetStatus(view: DaemonSetView, collisionCount: number): DaemonSetStatus {
  const { set, hash, desired } = view;
  const { metadata, status = {} } = set;
  const counts = { current: 0, misscheduled: 0, ready: 0, available: 0, updated: 0 };
  for (const [nodeName, { shouldRun }] of view.fits) {
    const [pod] = oldestFirst(view.byNode.get(nodeName) ?? []);
    if (pod === undefined) continue;
    if (!shouldRun) {
      counts.misscheduled++;
      continue;
    }
    counts.current++;
    if (isReady(pod)) counts.ready++;
    if (isAvailablePod(view, pod)) counts.available++;
    if (isUpdated(set, hash, pod)) counts.updated++;
  }
  return {
    ...status,
    observedGeneration: metadata.generation ?? 0,
    desiredNumberScheduled: desired,
    currentNumberScheduled: counts.current,
    numberMisscheduled: counts.misscheduled,
    numberReady: counts.ready,
    updatedNumberScheduled: counts.updated,
    numberAvailable: counts.available,
    numberUnavailable: desired - counts.available,
    ...(collisionCount === 0 ? {} : { collisionCount }),
  };
}

/** Whether two statuses are equal. Absent counts are 0. */
export function isSameStatus(a: DaemonSetStatus = {}, b: DaemonSetStatus = {}): boolean {
  const fields = (status: DaemonSetStatus) => [
    status.observedGeneration ?? 0,
    status.desiredNumberScheduled ?? 0,
    status.currentNumberScheduled ?? 0,
    status.numberMisscheduled ?? 0,
    status.numberReady ?? 0,
    status.updatedNumberScheduled ?? 0,
    status.numberAvailable ?? 0,
    status.numberUnavailable ?? 0,
    status.collisionCount ?? 0,
  ];
  return JSON.stringify(fields(a)) === JSON.stringify(fields(b));
}
