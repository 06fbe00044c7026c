/** The messages about containers whose logs cannot be read. Pure functions. */
import type { Pod } from '../api/objects.ts';

/** `isError`: false if there is no log because of the state of the container, which its pod's page explains. */
export type LogProblem = { container: string; text: string; isError: boolean };

type LogStates = {
  containers: readonly string[];
  /** The states of the containers' streams: `connecting`, or the last one passed to `LogReceiver.setState`. */
  states: readonly string[];
  /** Containers whose lines are hidden, by index. */
  hidden: ReadonlySet<number>;
  isPrevious: boolean;
};

/** Returns the messages to show about the containers whose lines are not hidden. */
export function logProblems(pod: Pod, { containers, states, hidden, isPrevious }: LogStates): LogProblem[] {
  return containers.flatMap((container, source): LogProblem[] => {
    const state = states[source] ?? '';
    if (hidden.has(source)) return [];
    const absent = absentLog(pod, container, isPrevious);
    if (absent !== undefined) return [{ container, text: absent, isError: false }];
    if (state === '' || state === 'ended' || state === 'connecting') return [];
    return [{ container, text: state, isError: true }];
  });
}

/** Returns why the pod's status says that a container has no log; undefined if it may have one. */
function absentLog({ status }: Pod, container: string, isPrevious: boolean): string | undefined {
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const found = statuses.find(({ name }) => name === container);
  const { state = {}, lastState = {}, restartCount = 0 } = found ?? {};
  const hasStarted = state.running !== undefined || state.terminated !== undefined;
  const hasEnded = lastState.terminated !== undefined || restartCount > 0;
  if (!hasStarted && !hasEnded) return 'the container has not started yet';
  return isPrevious && !hasEnded ? 'the container has no previous run' : undefined;
}
