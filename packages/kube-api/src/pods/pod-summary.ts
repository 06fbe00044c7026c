import type { ContainerState, ContainerStatus, PodStatus } from '../objects/pod-status.ts';
import type { Pod } from '../objects/types.ts';

/** A pod as a row of a table, with kubectl's values (its pod printer). */
export type PodSummary = {
  /** `ready/all`: containers and sidecars. */
  ready: string;
  /** The most significant reason of its containers, otherwise its phase. */
  status: string;
  restarts: number;
  /** RFC 3339: the end of the container that was restarted last. */
  restartedAt?: string;
};

type Counts = Pick<PodSummary, 'restarts' | 'restartedAt'>;

/** During initialization the status and counts come from init containers, later from containers and sidecars. */
export function podSummary(pod: Pod): PodSummary {
  const { initContainers = [], containers } = pod.spec;
  const sidecars = new Set(
    initContainers.flatMap(({ name, restartPolicy }) => (restartPolicy === 'Always' ? [name] : [])),
  );
  const status: PodStatus = pod.status ?? { phase: 'Pending' };
  const initStatuses = status.initContainerStatuses ?? [];
  const statuses = status.containerStatuses ?? [];
  const initializing = initReason(initStatuses, { sidecars, count: initContainers.length });
  const isBegun = initializing === undefined || hasCondition(status, 'Initialized');
  const lasting = initStatuses.filter(({ name }) => sidecars.has(name));
  const reason = isBegun ? mainReason(status) : undefined;
  const up = [...lasting.filter(isUp), ...(isBegun ? statuses.filter(isUp) : [])];
  return {
    ready: `${up.length}/${containers.length + sidecars.size}`,
    status: ending(pod) ?? evicted(status) ?? reason ?? initializing ?? (status.reason || status.phase),
    ...countRestarts(isBegun ? [...lasting, ...statuses] : initStatuses),
  };
}

const isUp = ({ ready, state }: ContainerStatus): boolean => ready && state.running !== undefined;

const hasCondition = ({ conditions = [] }: PodStatus, wanted: string): boolean =>
  conditions.some(({ type, status }) => type === wanted && status === 'True');

/** `Terminating` for a pod that is being deleted and has not ended; otherwise `undefined`. */
function ending({ metadata, status }: Pod): string | undefined {
  const isEnded = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  return metadata.deletionTimestamp !== undefined && !isEnded ? 'Terminating' : undefined;
}

/** For an evicted pod the reason of its containers' ends does not matter. */
function evicted({ phase, reason }: PodStatus): string | undefined {
  return phase === 'Failed' && reason === 'Evicted' ? reason : undefined;
}

/** The init container that the pod waits for, with the reason; `undefined` after initialization. */
function initReason(
  statuses: ContainerStatus[],
  { sidecars, count }: { sidecars: Set<string>; count: number },
): string | undefined {
  for (const [index, { name, started, state }] of statuses.entries()) {
    const { terminated, waiting } = state;
    if (terminated?.exitCode === 0 || (sidecars.has(name) && started === true)) continue;
    if (terminated !== undefined) return `Init:${endReason(terminated)}`;
    if (waiting?.reason && waiting.reason !== 'PodInitializing') return `Init:${waiting.reason}`;
    return `Init:${index}/${count}`;
  }
  return undefined;
}

/** The reason of the first container that waits or has ended; if it completed, other containers may still run or have failed. */
function mainReason(status: PodStatus): string | undefined {
  const statuses = status.containerStatuses ?? [];
  const reasons = statuses.flatMap(({ state: { waiting, terminated } }) =>
    waiting?.reason ? [waiting.reason] : terminated === undefined ? [] : [endReason(terminated)],
  );
  if (reasons[0] !== 'Completed') return reasons[0];
  const runs = statuses.some(isUp);
  if (runs && hasCondition(status, 'Ready')) return 'Running';
  const failed = statuses.find(({ state }) => (state.terminated?.exitCode ?? 0) !== 0);
  if (failed !== undefined) return endReason(failed.state.terminated!);
  return runs ? 'NotReady' : 'Completed';
}

function endReason({ reason, signal, exitCode }: NonNullable<ContainerState['terminated']>): string {
  if (reason) return reason;
  return signal ? `Signal:${signal}` : `ExitCode:${exitCode}`;
}

function countRestarts(statuses: ContainerStatus[]): Counts {
  const restarts = statuses.reduce((sum, { restartCount }) => sum + restartCount, 0);
  const ends = statuses.flatMap(({ lastState }) => lastState.terminated?.finishedAt ?? []);
  const restartedAt = ends.sort((a, b) => Date.parse(a) - Date.parse(b)).at(-1);
  return restarts === 0 || restartedAt === undefined ? { restarts } : { restarts, restartedAt };
}
