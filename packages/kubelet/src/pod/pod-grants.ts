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

/**
 * The reason why a pod did not get its exclusive resources: either it is rejected for good, or it must wait until a device plugin
 * registers.
 */
export type GrantAnswer = { kind: 'refused'; refusal: WaitingReason } | { kind: 'waits'; message: string };

/** Allocates exclusive resources to pods: devices, CPUs and NUMA memory. */
export type PodGrants = {
  /** Allocates the pod's exclusive resources. Returns `undefined` if everything was allocated. */
  admit(pod: Pod, signal: AbortSignal): Promise<GrantAnswer | undefined>;
  /** Prepares the pod's ResourceClaims before its sandbox is created. Rejects on failure. */
  prepare(pod: Pod, signal: AbortSignal): Promise<void>;
  /** Unprepares the pod's ResourceClaims after its containers have stopped but before its status shows that. Rejects on failure. */
  unprepare(podUid: string, signal: AbortSignal): Promise<void>;
  /** Returns the health of the devices allocated to a container. */
  healthOf(pod: Pod, container: string): AllocatedResourceStatus[];
  /** Releases the pod's exclusive resources after it has terminated. */
  release(podUid: string): Promise<void>;
};

/** The allocator of exclusive resources, and the callbacks and recorders to which rejected and waiting pods are reported. */
export type PodGranter = {
  grants: PodGrants;
  refuse: (podUid: string, refusal: WaitingReason) => void;
  events: EventRecorder;
  statuses: Pick<StatusManager, 'introduce' | 'pod'>;
};

/** Status and event reason of a pod that is waiting for a device plugin. */
const WAITS = 'WaitingForDevices';

/** Allocates the pod's exclusive resources, or rejects the pod. If the pod must wait, returns the outcome of its sync. */
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
    // the pod is retried every second, so emit the event only when the message changes
    events.event(eventSubject(pod), 'Warning', WAITS, answer.message);
  statuses.introduce(pod, { phase: 'Pending', reason: WAITS, message: answer.message, qosClass: qosClass(pod) });
  return { ended: false, retryAtMs: Date.now() + HELD_RETRY_MS };
}

/** Prepares the ResourceClaims of a pod that is about to start. On failure, returns the outcome of the pod's sync. */
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

/** Adds device health to the pod status. Like upstream, only for ordinary containers. Pure. */
export function withDevices(status: PodStatus, healthOf: (container: string) => AllocatedResourceStatus[]): PodStatus {
  const { containerStatuses } = status;
  if (!containerStatuses?.some(({ name }) => healthOf(name).length > 0)) return status;
  const shown = containerStatuses.map((one) => {
    const allocatedResourcesStatus = healthOf(one.name);
    return allocatedResourcesStatus.length === 0 ? one : { ...one, allocatedResourcesStatus };
  });
  return { ...status, containerStatuses: shown };
}
