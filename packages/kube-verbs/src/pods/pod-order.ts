import { findCondition, type Pod } from '@podwright/kube-api';

/** Compares two pods: negative if the first one is the better choice for a log or stream. */
type Rule = (a: Pod, b: Pod) => number;

const first =
  (isBetter: (pod: Pod) => boolean): Rule =>
  (a, b) =>
    Number(isBetter(b)) - Number(isBetter(a));

const isAssigned = ({ spec }: Pod): boolean => Boolean(spec.nodeName);
const readyCondition = ({ status }: Pod) => findCondition(status?.conditions, 'Ready');
const isReady = (pod: Pod): boolean => readyCondition(pod)?.status === 'True';

const byPhase =
  (ranks: Partial<Record<string, number>>): Rule =>
  (a, b) =>
    (ranks[a.status?.phase ?? ''] ?? 0) - (ranks[b.status?.phase ?? ''] ?? 0);

/** Compares two times: earlier ones come first, missing ones last. */
function earlier(a: string | null | undefined, b: string | null | undefined): number {
  const [left, right] = [a, b].map((time) => (time ? Date.parse(time) : Number.POSITIVE_INFINITY));
  return left === right ? 0 : left! - right!;
}

const longestReady: Rule = (a, b) =>
  isReady(a) && isReady(b) ? earlier(readyCondition(a)?.lastTransitionTime, readyCondition(b)?.lastTransitionTime) : 0;

const restarts = ({ status }: Pod): number =>
  Math.max(0, ...(status?.containerStatuses ?? []).map(({ restartCount }) => restartCount));

const oldest: Rule = (a, b) => earlier(a.metadata.creationTimestamp, b.metadata.creationTimestamp);

/** Prefers the pod with the most useful log (kubectl, podutils ByLogging). The first rule that distinguishes two pods decides. */
const FOR_LOGS: readonly Rule[] = [
  first(isAssigned),
  byPhase({ Running: 0, Unknown: 1, Pending: 2 }),
  first(isReady),
  longestReady,
  (a, b) => restarts(b) - restarts(a),
  oldest,
];

/** Prefers the pod most likely to work (kubectl, podutils ActivePods, reversed). */
const FOR_STREAMS: readonly Rule[] = [
  first(isAssigned),
  byPhase({ Running: -2, Unknown: -1 }),
  first(isReady),
  first(({ metadata }) => metadata.deletionTimestamp === undefined),
  longestReady,
  (a, b) => restarts(a) - restarts(b),
  oldest,
];

/** What a pod of the workload is needed for: its log, or a stream such as exec. */
export type PodPurpose = 'logs' | 'streams';

/** Sorts the pods, the best choice for the purpose first. */
export function inOrderOfChoice(pods: readonly Pod[], purpose: PodPurpose): Pod[] {
  const rules = purpose === 'logs' ? FOR_LOGS : FOR_STREAMS;
  return pods.toSorted((a, b) => rules.reduce((order, rule) => order || rule(a, b), 0));
}
