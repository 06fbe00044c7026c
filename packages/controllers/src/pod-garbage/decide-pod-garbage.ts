/** Decides which pods to remove because no kubelet or other controller does (upstream's pkg/controller/podgc). */
import { isConditionTrue, type Node, type Pod, type PodCondition } from '@podwright/kube-api';
import { isEnded } from '../pods/pod-state.ts';

/** Maximum number of pods in a terminal phase to retain (terminated-pod-gc-threshold). */
const MAX_ENDED_PODS = 12_500;
/** How long a node must be absent before its pods are removed, in milliseconds. */
const QUARANTINE_MS = 40_000;
const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';

export type PodGarbageState = {
  pods: readonly Pod[];
  nodes: readonly Node[];
  /** When each absent node to which pods are assigned was first found to be absent, in Unix milliseconds, by node name. */
  absentSince: ReadonlyMap<string, number>;
  nowMs: number;
  /** Maximum number of pods in a terminal phase to retain. Default: 12,500, as in upstream. */
  maxEnded?: number;
};

export type PodRemoval = {
  pod: Pod;
  /** The node whose absence is the reason to remove the pod. The caller must first verify with the server that it does not exist. */
  absentNode?: string;
  /** A pod condition to set if the pod is not in a terminal phase. */
  condition?: PodCondition;
};

export type PodGarbage = { removals: PodRemoval[]; absentSince: Map<string, number> };

export function decidePodGarbage(state: PodGarbageState): PodGarbage {
  const { pods, nowMs } = state;
  const nodes = new Map(state.nodes.map((node) => [node.metadata.name ?? '', node]));
  const absentSince = new Map<string, number>();
  const removals = surplusPods(pods, state.maxEnded ?? MAX_ENDED_PODS).map((pod): PodRemoval => ({ pod }));
  for (const pod of pods) {
    const { nodeName = '' } = pod.spec;
    const isLeaving = pod.metadata.deletionTimestamp !== undefined;
    const node = nodes.get(nodeName);
    if (isLeaving && (nodeName === '' || isOutOfService(node))) removals.push({ pod });
    if (nodeName === '' || node !== undefined) continue;
    const sinceMs = state.absentSince.get(nodeName) ?? nowMs;
    absentSince.set(nodeName, sinceMs);
    if (nowMs - sinceMs >= QUARANTINE_MS) removals.push({ pod, absentNode: nodeName, condition: ORPHANED });
  }
  return { removals, absentSince };
}

const ORPHANED: PodCondition = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'DeletionByPodGC',
  message: 'PodGC: node no longer exists',
};

/** Returns the pods in a terminal phase beyond the limit: evicted ones first, then the oldest. */
function surplusPods(pods: readonly Pod[], limit: number): Pod[] {
  const ended = pods.filter(isEnded);
  if (ended.length <= limit) return [];
  const isEvicted = ({ status }: Pod) => status?.phase === 'Failed' && status.reason === 'Evicted';
  const timeOf = ({ metadata }: Pod) => Date.parse(metadata.creationTimestamp ?? '') || 0;
  const sorted = ended.toSorted(
    (a, b) =>
      Number(isEvicted(b)) - Number(isEvicted(a)) ||
      timeOf(a) - timeOf(b) ||
      (a.metadata.name < b.metadata.name ? -1 : 1),
  );
  return sorted.slice(0, ended.length - limit);
}

/** Whether an administrator has declared, with the out-of-service taint, that an unready node no longer runs its pods. */
function isOutOfService(node: Node | undefined): boolean {
  const isReady = isConditionTrue(node?.status?.conditions, 'Ready');
  return !isReady && (node?.spec?.taints ?? []).some(({ key }) => key === OUT_OF_SERVICE);
}
