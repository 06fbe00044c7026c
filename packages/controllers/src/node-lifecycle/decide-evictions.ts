/** Decides which pods are evicted because of NoExecute taints, and when (upstream's tainteviction). Pure. */
import { type Pod, type Taint, type Toleration, toleratesTaint } from '@podwright/kube-api';
import { placeText } from '../framework/object-place.ts';

/** Pods to be evicted when their tolerations expire, by `NAMESPACE/NAME`. `sinceMs` is when they started waiting. */
export type WaitingPods = ReadonlyMap<string, { uid: string; sinceMs: number }>;

export type EvictionState = {
  pods: readonly Pod[];
  /** NoExecute taints by node name. */
  taints: ReadonlyMap<string, readonly Taint[]>;
  waiting: WaitingPods;
  /** The time on the controller's `AwakeClock`, in milliseconds. */
  nowMs: number;
};

export type Evictions = {
  evicted: Pod[];
  /** Pods that were waiting for eviction and now tolerate all taints. */
  spared: Pod[];
  waiting: Map<string, { uid: string; sinceMs: number }>;
};

/** Decides which pods are evicted now, and which wait until their tolerations expire. */
export function decideEvictions({ pods, taints, waiting, nowMs }: EvictionState): Evictions {
  const result: Evictions = { evicted: [], spared: [], waiting: new Map() };
  for (const pod of pods) {
    const { nodeName = '' } = pod.spec;
    const key = placeText(pod.metadata);
    const known = waiting.get(key)?.uid === pod.metadata.uid ? waiting.get(key) : undefined;
    if (pod.metadata.deletionTimestamp !== undefined) continue;
    const tolerated = toleratedMs(pod.spec.tolerations ?? [], taints.get(nodeName) ?? []);
    if (tolerated === Number.POSITIVE_INFINITY) {
      if (known !== undefined) result.spared.push(pod);
      continue;
    }
    const sinceMs = known?.sinceMs ?? nowMs;
    if (nowMs - sinceMs >= tolerated) result.evicted.push(pod);
    // keep evicted pods in the list: the eviction might fail, and the next check must then retry it
    result.waiting.set(key, { uid: pod.metadata.uid, sinceMs });
  }
  return result;
}

/**
 * Returns how long a pod tolerates all taints, in milliseconds: 0 if there is one that it does not tolerate, `Infinity` if it tolerates all
 * of them forever.
 */
function toleratedMs(tolerations: readonly Toleration[], taints: readonly Taint[]): number {
  let shortest = Number.POSITIVE_INFINITY;
  for (const taint of taints) {
    const match = tolerations.find((one) => toleratesTaint([one], taint));
    if (match === undefined) return 0;
    const { tolerationSeconds: seconds } = match;
    if (seconds !== undefined) shortest = Math.min(shortest, Math.max(0, seconds) * 1000);
  }
  return shortest;
}
