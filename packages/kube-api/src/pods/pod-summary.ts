import { isConditionTrue } from '../objects/conditions.ts';
import type { ContainerState, ContainerStatus, PodStatus } from '../objects/pod-status.ts';
import type { Pod } from '../objects/types.ts';

/** A pod as a table row, with the same values as kubectl's pod printer. */
export type PodSummary = {
  /** `ready/total`, such as `1/2`. Counts regular containers and sidecars. */
  ready: string;
  /** The most significant reason in the container states, or the phase if there is none. */
  status: string;
  restarts: number;
  /** When the most recently restarted container last terminated (RFC 3339). */
  restartedAt?: string;
};

type Counts = Pick<PodSummary, 'restarts' | 'restartedAt'>;

/**
 * Summarizes a pod. During initialization, the status and counts cover the init containers up to the one the pod is waiting for;
 * afterwards, they cover regular containers and sidecars. If `showsEviction` is true, the status of an evicted pod is Evicted; kubectl
 * shows how its containers terminated instead.
 */
export function podSummary(pod: Pod, { showsEviction = true } = {}): PodSummary {
  const { initContainers = [], containers } = pod.spec;
  const sidecars = new Set(
    initContainers.flatMap(({ name, restartPolicy }) => (restartPolicy === 'Always' ? [name] : [])),
  );
  const status: PodStatus = pod.status ?? { phase: 'Pending' };
  const init = initProgress(status.initContainerStatuses ?? [], { sidecars, count: initContainers.length });
  const isBegun = init.reason === undefined || isConditionTrue(status.conditions, 'Initialized');
  const statuses = isBegun ? (status.containerStatuses ?? []) : [];
  const lasting = init.reached.filter(({ name }) => sidecars.has(name));
  const up = [...lasting.filter((sidecar) => sidecar.ready && isStarted(sidecar)), ...statuses.filter(isUp)];
  const evicted = showsEviction && status.phase === 'Failed' && status.reason === 'Evicted' ? 'Evicted' : undefined;
  return {
    ready: `${up.length}/${containers.length + sidecars.size}`,
    status: ending(pod) ?? evicted ?? mainReason(status, statuses) ?? init.reason ?? ownReason(status),
    ...countRestarts(isBegun ? [...lasting, ...statuses] : init.reached),
  };
}

/** Whether a sidecar counts as started. As in upstream's pod printer, a sidecar that exited with 0 does not. */
const isStarted = ({ started, state }: ContainerStatus): boolean =>
  started === true && state?.terminated?.exitCode !== 0;

const isUp = ({ ready, state }: ContainerStatus): boolean => ready && state?.running !== undefined;

/**
 * Returns `Unknown` for a pod being deleted from a lost node, `Terminating` for any other pod being deleted that has not terminated yet,
 * and otherwise `undefined`.
 */
function ending({ metadata, status }: Pod): string | undefined {
  if (metadata.deletionTimestamp === undefined) return undefined;
  if (status?.reason === 'NodeLost') return 'Unknown';
  return status?.phase === 'Succeeded' || status?.phase === 'Failed' ? undefined : 'Terminating';
}

function ownReason({ conditions = [], reason, phase }: PodStatus): string {
  const isGated = conditions.some((one) => one.type === 'PodScheduled' && one.reason === 'SchedulingGated');
  return isGated ? 'SchedulingGated' : reason || phase;
}

/**
 * Returns the statuses of the init containers up to the one the pod is waiting for, and a reason such as `Init:0/2`. After initialization,
 * returns all statuses and no reason.
 */
function initProgress(
  statuses: ContainerStatus[],
  { sidecars, count }: { sidecars: Set<string>; count: number },
): { reached: ContainerStatus[]; reason?: string } {
  const index = statuses.findIndex(
    (status) => status.state?.terminated?.exitCode !== 0 && !(sidecars.has(status.name) && status.started === true),
  );
  if (index === -1) return { reached: statuses };
  const { terminated, waiting } = statuses[index]!.state ?? {};
  const waits = waiting?.reason && waiting.reason !== 'PodInitializing' ? waiting.reason : `${index}/${count}`;
  return {
    reached: statuses.slice(0, index + 1),
    reason: `Init:${terminated === undefined ? waits : endReason(terminated)}`,
  };
}

/**
 * Returns the reason of the first container that is waiting or has terminated. If that reason is `Completed`, running and failed containers
 * take precedence.
 */
function mainReason(status: PodStatus, statuses: ContainerStatus[]): string | undefined {
  const reasons = statuses.flatMap(({ state: { waiting, terminated } = {} }) =>
    waiting?.reason ? [waiting.reason] : terminated === undefined ? [] : [endReason(terminated)],
  );
  if (reasons[0] !== 'Completed') return reasons[0];
  const runs = statuses.some(isUp);
  if (runs && isConditionTrue(status.conditions, 'Ready')) return 'Running';
  const failed = statuses.find(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0);
  if (failed !== undefined) return endReason(failed.state.terminated!);
  return runs ? 'NotReady' : 'Completed';
}

function endReason({ reason, signal, exitCode }: NonNullable<ContainerState['terminated']>): string {
  if (reason) return reason;
  return signal ? `Signal:${signal}` : `ExitCode:${exitCode}`;
}

function countRestarts(statuses: ContainerStatus[]): Counts {
  const restarts = statuses.reduce((sum, { restartCount }) => sum + (restartCount ?? 0), 0);
  const ends = statuses.flatMap(({ lastState }) => lastState?.terminated?.finishedAt ?? []);
  const restartedAt = ends.sort((a, b) => Date.parse(a) - Date.parse(b)).at(-1);
  return restarts === 0 || restartedAt === undefined ? { restarts } : { restarts, restartedAt };
}
