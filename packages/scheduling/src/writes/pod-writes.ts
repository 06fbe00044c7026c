/** The scheduler's writes to pods: bindings, conditions, nominations and evictions. */
import { findCondition, formatTime, type Pod, type PodCondition } from '@podwright/kube-api';
import { isApiStatus, type KubeClient, PODS } from '@podwright/kube-client';
import { nominatedNode } from '../cluster/nominated-node.ts';

/** The scheduler's name in conditions and events, and in the pods it handles. */
export const SCHEDULER_NAME = 'default-scheduler';

type WaitingPod = {
  reason: 'Unschedulable' | 'SchedulerError';
  message: string;
  /** The node to nominate; null clears the nomination, undefined leaves it unchanged. */
  nominatedNodeName?: string | null;
};

/** Writes why a pod has no node, unless its status already says so. */
export async function writeWaiting(
  client: KubeClient,
  pod: Pod,
  { reason, message, nominatedNodeName }: WaitingPod,
): Promise<void> {
  const condition = conditionOf(pod, { type: 'PodScheduled', status: 'False', reason, message });
  const isNominated = nominatedNodeName === undefined || (nominatedNodeName ?? undefined) === nominatedNode(pod);
  if (condition === undefined && isNominated) return;
  await patchStatus(client, pod, {
    ...(condition === undefined ? {} : { conditions: [condition] }),
    ...(isNominated ? {} : { nominatedNodeName }),
  });
}

/** Clears the nomination of a pod. */
export async function clearNomination(client: KubeClient, pod: Pod): Promise<void> {
  await patchStatus(client, pod, { nominatedNodeName: null });
}

/** Removes a pod in favor of one of higher priority, respecting its grace period. No-op if the pod no longer exists. */
export async function evictVictim(client: KubeClient, victim: Pod): Promise<void> {
  const { namespace, name, uid } = victim.metadata;
  const condition = conditionOf(victim, {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'PreemptionByScheduler',
    message: `${SCHEDULER_NAME}: preempting to accommodate a higher priority pod`,
  });
  try {
    if (condition !== undefined) await patchStatus(client, victim, { conditions: [condition] });
    await client.delete(PODS, { namespace, name }, { preconditions: { uid } });
  } catch (error) {
    if (!isApiStatus(error, 404) && !isApiStatus(error, 409)) throw error; // 409: a new pod has the name
  }
}

/** Binds a pod to a node. */
export async function bind(client: KubeClient, { metadata }: Pod, node: string): Promise<void> {
  const { namespace, name, uid } = metadata;
  const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { namespace, name, uid } };
  await client.create(PODS, { ...binding, target: { apiVersion: 'v1', kind: 'Node', name: node } } as typeof binding, {
    subresource: 'binding',
  });
}

/** Returns the condition to write, or `undefined` if the pod already has it. The transition time changes only if the status does. */
function conditionOf({ metadata, status }: Pod, wanted: PodCondition): PodCondition | undefined {
  const known = findCondition(status?.conditions, wanted.type);
  const isSame = known?.status === wanted.status && known.reason === wanted.reason && known.message === wanted.message;
  if (isSame) return undefined;
  return {
    ...wanted,
    observedGeneration: metadata.generation,
    lastProbeTime: null,
    lastTransitionTime: known?.status === wanted.status ? known.lastTransitionTime : formatTime(Date.now()),
  };
}

async function patchStatus(client: KubeClient, { metadata }: Pod, status: object): Promise<void> {
  const { namespace, name, uid } = metadata;
  const body = { metadata: { uid }, status };
  await client.patchForMetadata(PODS, { namespace, name }, { type: 'strategic', body, subresource: 'status' });
}
