import {
  type ContainerStatus,
  findCondition,
  isSidecar,
  type Pod,
  type PodCondition,
  type PodPhase,
  type PodStatus,
} from '@podwright/kube-api';

/** A condition without timestamps. */
export type Verdict = Pick<PodCondition, 'type' | 'status' | 'reason' | 'message'>;

export type ConditionsInput = {
  pod: Pod;
  phase: PodPhase;
  initStatuses: ContainerStatus[];
  statuses: ContainerStatus[];
  /** Whether the sandbox is ready and its network is set up. */
  sandboxReady: boolean;
  /**
   * The transient conditions that currently apply: AllContainersRestarting for pods with such a restart rule, and a pending or in-progress
   * resize.
   */
  passing: Verdict[];
  previous: PodCondition[];
  /** The current time in RFC 3339, for conditions that change now. */
  now: string;
};

/** The kubelet's transient conditions, which are removed when they no longer apply. */
const PASSING = new Set(['AllContainersRestarting', 'PodResizePending', 'PodResizeInProgress']);

/** Conditions that have a lastProbeTime, as in upstream. The kubelet sets it to the time of the last transition. */
const PROBED = new Set(['PodResizePending', 'PodResizeInProgress']);

/** Returns the existing conditions of other writers, followed by the kubelet's own. */
export function podConditions(input: ConditionsInput): PodCondition[] {
  const containersReady = containersReadyVerdict(input);
  const own = [
    ...input.passing,
    verdict('PodReadyToStartContainers', input.sandboxReady),
    initializedVerdict(input),
    readyVerdict(input, containersReady),
    containersReady,
    verdict('PodScheduled', true),
  ];
  const others = input.previous.filter(({ type }) => !PASSING.has(type) && !own.some((one) => one.type === type));
  return [...others, ...own.map((one) => timed(one, input))];
}

/** Recomputes the conditions from the container statuses in `status`. */
export function refreshedConditions(pod: Pod, status: PodStatus, now: string): PodCondition[] {
  const { phase, initContainerStatuses = [], containerStatuses = [], conditions = [] } = status;
  const ready = findCondition(conditions, 'PodReadyToStartContainers');
  const failing = conditions.some(({ type, reason }) => type === 'ContainersReady' && reason === 'PodFailed');
  return podConditions({
    pod,
    phase: failing ? 'Failed' : phase,
    initStatuses: initContainerStatuses,
    statuses: containerStatuses,
    sandboxReady: ready?.status === 'True',
    passing: conditions.filter(({ type }) => PASSING.has(type)),
    previous: conditions,
    now,
  });
}

/** Replaces the condition of the same type, or prepends the new one if there is none. */
export function withCondition(
  conditions: PodCondition[],
  one: Verdict,
  { pod, now }: Pick<ConditionsInput, 'pod' | 'now'>,
): PodCondition[] {
  const changed = timed(one, { pod, previous: conditions, now });
  const there = conditions.some(({ type }) => type === one.type);
  return there ? conditions.map((before) => (before.type === one.type ? changed : before)) : [changed, ...conditions];
}

function timed(one: Verdict, { pod, previous, now }: Pick<ConditionsInput, 'pod' | 'previous' | 'now'>): PodCondition {
  const before = previous.find(({ type }) => type === one.type);
  const lastTransitionTime = before?.status === one.status ? before.lastTransitionTime : now;
  const lastProbeTime = PROBED.has(one.type) ? lastTransitionTime : null;
  return { ...one, ...observed(pod), lastProbeTime, lastTransitionTime };
}

/** The observedGeneration field; absent if the pod has no generation. */
export function observed({ metadata }: Pod): { observedGeneration?: number } {
  return metadata.generation ? { observedGeneration: metadata.generation } : {};
}

function verdict(type: string, holds: boolean, why?: { reason: string; message?: string }): Verdict {
  return { type, status: holds ? 'True' : 'False', ...why };
}

/** Returns the Initialized condition. An initialized pod stays initialized, even while its init containers run again. */
function initializedVerdict({ pod, phase, initStatuses, statuses, previous }: ConditionsInput): Verdict {
  const all = pod.spec.initContainers ?? [];
  const anyStarted = statuses.some(({ state, lastState }) => state.running ?? state.terminated ?? lastState.terminated);
  const incomplete = all.filter((container) => {
    const status = initStatuses.find(({ name }) => name === container.name);
    return isSidecar(container) ? status?.started !== true : status?.ready !== true;
  });
  if (phase === 'Succeeded') return verdict('Initialized', true, { reason: 'PodCompleted' });
  const before = previous.some(({ type, status }) => type === 'Initialized' && status === 'True');
  if (incomplete.length === 0 || anyStarted || before) return verdict('Initialized', true);
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
