import { ContainerState } from '@podwright/cri';
import type { ContainerInspection, ContainerSummary } from '../engine/engine-types.ts';

/** Where a container is in its life. */
export type ContainerPhase = 'created' | 'running' | 'exited';

/** The Engine's words for each: one that is paused or started again by somebody runs, one that is being removed does not. */
const WORDS: Record<ContainerPhase, string[]> = {
  created: ['created'],
  running: ['running', 'paused', 'restarting'],
  exited: ['exited', 'removing', 'dead'],
};

const STATES: Record<ContainerPhase, ContainerState> = {
  created: ContainerState.CONTAINER_CREATED,
  running: ContainerState.CONTAINER_RUNNING,
  exited: ContainerState.CONTAINER_EXITED,
};

/** The phase of a container. One that could not be started has an exit code, and has ended. */
export function phaseOf({ State }: Pick<ContainerInspection, 'State'>): ContainerPhase {
  if (State.Running) return 'running';
  return State.Status === 'created' && State.ExitCode === 0 ? 'created' : 'exited';
}

export const stateOfPhase = (phase: ContainerPhase): ContainerState => STATES[phase];

/** The state in a list, which has no exit codes: a container that could not be started is one that has not been. */
export function listedState({ State }: Pick<ContainerSummary, 'State'>): ContainerState {
  const phase = (['created', 'running', 'exited'] as const).find((one) => WORDS[one].includes(State));
  return phase === undefined ? ContainerState.CONTAINER_UNKNOWN : STATES[phase];
}

/** The Engine's words for a state of the CRI; none for one that it never has. */
export function engineStates(state: ContainerState): string[] {
  const phase = (['created', 'running', 'exited'] as const).find((one) => STATES[one] === state);
  return phase === undefined ? [] : WORDS[phase];
}
