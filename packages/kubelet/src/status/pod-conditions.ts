import { type ContainerStatus, isSidecar, type Pod, type PodCondition, type PodPhase } from '../api/types.ts';

/** A condition without its times. */
type Verdict = Pick<PodCondition, 'type' | 'status' | 'reason' | 'message'>;

export type ConditionsInput = {
  pod: Pod;
  phase: PodPhase;
  initStatuses: ContainerStatus[];
  statuses: ContainerStatus[];
  /** The sandbox is ready and has its network. */
  sandboxReady: boolean;
  /** Whether the pod begins anew in its sandbox, for pods that may. */
  restarting?: Verdict;
  /** A resize that waits or goes on. */
  resize?: Verdict[];
  previous: PodCondition[];
  /** RFC 3339, for conditions that change now. */
  now: string;
};

/** Conditions of the kubelet's that are not there while they do not hold. */
const PASSING = new Set(['AllContainersRestarting', 'PodResizePending', 'PodResizeInProgress']);

/** The conditions that the kubelet owns, and then those of others that were there before. */
export function podConditions(input: ConditionsInput): PodCondition[] {
  const containersReady = containersReadyVerdict(input);
  const own = [
    verdict('PodReadyToStartContainers', input.sandboxReady),
    initializedVerdict(input),
    readyVerdict(input, containersReady),
    containersReady,
    verdict('PodScheduled', true),
    ...(input.restarting === undefined ? [] : [input.restarting]),
    ...(input.resize ?? []),
  ];
  const others = input.previous.filter(({ type }) => !PASSING.has(type) && !own.some((one) => one.type === type));
  return [...own.map((one) => withTimes(one, input)), ...others];
}

function withTimes(one: Verdict, { previous, now }: ConditionsInput): PodCondition {
  const before = previous.find(({ type }) => type === one.type);
  const lastTransitionTime = before?.status === one.status ? before.lastTransitionTime : now;
  return { ...one, lastProbeTime: null, lastTransitionTime };
}

function verdict(type: string, holds: boolean, why?: { reason: string; message?: string }): Verdict {
  return { type, status: holds ? 'True' : 'False', ...why };
}

function initializedVerdict({ pod, phase, initStatuses, statuses }: ConditionsInput): Verdict {
  const all = pod.spec.initContainers ?? [];
  const anyStarted = statuses.some(({ state, lastState }) => state.running ?? state.terminated ?? lastState.terminated);
  const incomplete = all.filter((container) => {
    const status = initStatuses.find(({ name }) => name === container.name);
    return isSidecar(container) ? status?.started !== true : status?.ready !== true;
  });
  if (phase === 'Succeeded') return verdict('Initialized', true, { reason: 'PodCompleted' });
  if (incomplete.length === 0 || anyStarted) return verdict('Initialized', true);
  return verdict('Initialized', false, {
    reason: 'ContainersNotInitialized',
    message: `containers with incomplete status: ${nameList(incomplete)}`,
  });
}

function containersReadyVerdict({ pod, phase, initStatuses, statuses }: ConditionsInput): Verdict {
  if (phase === 'Succeeded') return verdict('ContainersReady', false, { reason: 'PodCompleted' });
  if (phase === 'Failed') return verdict('ContainersReady', false, { reason: 'PodFailed' });
  const sidecars = (pod.spec.initContainers ?? []).filter(isSidecar);
  const known = [...initStatuses, ...statuses];
  const unready = [...sidecars, ...pod.spec.containers].filter(
    (container) => known.find(({ name }) => name === container.name)?.ready !== true,
  );
  if (unready.length === 0) return verdict('ContainersReady', true);
  return verdict('ContainersReady', false, {
    reason: 'ContainersNotReady',
    message: `containers with unready status: ${nameList(unready)}`,
  });
}

function readyVerdict({ pod, previous }: ConditionsInput, containersReady: Verdict): Verdict {
  if (containersReady.status !== 'True') return { ...containersReady, type: 'Ready' };
  const messages = (pod.spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const found = previous.find(({ type }) => type === conditionType);
    if (found === undefined) {
      return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`];
    }
    if (found.status === 'True') return [];
    return [`the status of pod readiness gate "${conditionType}" is not "True", but ${found.status}`];
  });
  if (messages.length === 0) return verdict('Ready', true);
  return verdict('Ready', false, { reason: 'ReadinessGatesNotReady', message: messages.join(', ') });
}

function nameList(containers: { name: string }[]): string {
  return `[${containers.map(({ name }) => name).join(' ')}]`;
}
