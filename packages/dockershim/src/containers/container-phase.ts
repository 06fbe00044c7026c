import { ContainerState } from '@podwright/cri';
import type { ContainerInspection, ContainerSummary } from '../engine/engine-types.ts';

/** A phase of a container's lifecycle. */
export type ContainerPhase = 'created' | 'running' | 'exited';

/** The Engine states that belong to each phase. A paused or restarting container counts as running; one that is being removed does not. */
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

/** Returns the phase of an inspected container. A container that failed to start has an exit code and counts as exited. */
export function phaseOf({ State }: Pick<ContainerInspection, 'State'>): ContainerPhase {
  if (State.Running) return 'running';
  return State.Status === 'created' && State.ExitCode === 0 ? 'created' : 'exited';
}

export const stateOfPhase = (phase: ContainerPhase): ContainerState => STATES[phase];

/** Returns the CRI state of a list entry. Lists have no exit codes, so a container that failed to start is reported as created. */
export function listedState({ State }: Pick<ContainerSummary, 'State'>): ContainerState {
  const phase = (['created', 'running', 'exited'] as const).find((one) => WORDS[one].includes(State));
  return phase === undefined ? ContainerState.CONTAINER_UNKNOWN : STATES[phase];
}

/** Returns the Engine states for a CRI state; empty for CONTAINER_UNKNOWN. */
export function engineStates(state: ContainerState): string[] {
  const phase = (['created', 'running', 'exited'] as const).find((one) => STATES[one] === state);
  return phase === undefined ? [] : WORDS[phase];
}
