import { errorMessage } from '@podwright/base';
import {
  type AllocatedResourceStatus,
  type EventRecorder,
  eventSubject,
  type Pod,
  type PodStatus,
  qosClass,
} from '@podwright/kube-api';
import type { WaitingReason } from '../kubecontainer/sync-result.ts';
import type { StatusManager } from '../status/status-manager.ts';
import { HELD_RETRY_MS } from './limits.ts';
import type { SyncOutcome } from './pod-workers.ts';

/** A pod that does not get what it asks for: for good, or until a device plugin comes. */
export type GrantAnswer = { kind: 'refused'; refusal: WaitingReason } | { kind: 'waits'; message: string };

/** Gives pods what only one may have: devices, processors, memory of NUMA nodes. */
export type PodGrants = {
  /** Nothing if the pod has all that it asks for. */
  admit(pod: Pod, signal: AbortSignal): Promise<GrantAnswer | undefined>;
  /** Before the pod's sandbox is made: has its claims prepared. Rejects with what is in the way. */
  prepare(pod: Pod, signal: AbortSignal): Promise<void>;
  /** Nothing of the pod runs any more, and nobody is told so before its claims are taken back. Rejects if one is not. */
  unprepare(podUid: string, signal: AbortSignal): Promise<void>;
  /** How the devices are that a container has. */
  healthOf(pod: Pod, container: string): AllocatedResourceStatus[];
  /** The pod has ended. */
  release(podUid: string): Promise<void>;
};

/** Where a pod gets what only one may have, and where it is told that it does not. */
export type PodGranter = {
  grants: PodGrants;
  refuse: (podUid: string, refusal: WaitingReason) => void;
  events: EventRecorder;
  statuses: Pick<StatusManager, 'introduce' | 'pod'>;
};

/** Why a pod is pending that waits for a device plugin: in its status and its event. */
const WAITS = 'WaitingForDevices';

/** Gives the pod what only one may have, or refuses it; how its sync ends if it waits. */
export async function grantPod(
  pod: Pod,
  { grants, refuse, events, statuses }: PodGranter,
  signal: AbortSignal,
): Promise<SyncOutcome | undefined> {
  const answer = await grants.admit(pod, signal);
  if (answer?.kind === 'refused') refuse(pod.metadata.uid, answer.refusal);
  if (answer?.kind !== 'waits') return undefined;
  const shown = statuses.pod(pod.metadata.uid)?.status;
  if (shown?.reason !== WAITS || shown.message !== answer.message)
    // it is tried again every second
    events.event(eventSubject(pod), 'Warning', WAITS, answer.message);
  statuses.introduce(pod, { phase: 'Pending', reason: WAITS, message: answer.message, qosClass: qosClass(pod) });
  return { ended: false, retryAtMs: Date.now() + HELD_RETRY_MS };
}

/** Has the claims of a pod prepared that is about to begin; how its sync ends if that fails. */
export async function preparePod(
  pod: Pod,
  { grants, events }: Pick<PodGranter, 'grants' | 'events'>,
  signal: AbortSignal,
): Promise<SyncOutcome | undefined> {
  try {
    await grants.prepare(pod, signal);
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    const why = `Failed to prepare dynamic resources: prepare dynamic resources: ${errorMessage(error)}`;
    events.event(eventSubject(pod), 'Warning', 'FailedPrepareDynamicResources', why);
    return { ended: false, failed: true };
  }
}

/** The status with how devices are, as upstream of ordinary containers only. Pure. */
export function withDevices(status: PodStatus, healthOf: (container: string) => AllocatedResourceStatus[]): PodStatus {
  const { containerStatuses } = status;
  if (!containerStatuses?.some(({ name }) => healthOf(name).length > 0)) return status;
  const shown = containerStatuses.map((one) => {
    const allocatedResourcesStatus = healthOf(one.name);
    return allocatedResourcesStatus.length === 0 ? one : { ...one, allocatedResourcesStatus };
  });
  return { ...status, containerStatuses: shown };
}
