import { firstDifference, PodwrightError } from '@podwright/base';
import type { NamedRecord } from '@podwright/metadata';

type Existing = NamedRecord & { config: object; state: { phase: string } };

/**
 * Phases in which RunPodSandbox or CreateContainer accepts an existing record with the same name: `unfinished` if the earlier call did not
 * complete, `finished` if it did.
 */
export type ExistingPhases<R extends Existing> = {
  unfinished: readonly R['state']['phase'][];
  finished: R['state']['phase'];
};

/**
 * What RunPodSandbox and CreateContainer do about an existing record with the same name. `return`: an earlier call completed, but its
 * caller had disconnected or the response was lost. `clear`: an earlier call was not rolled back completely, so its remains must be removed
 * first.
 */
export type ExistingPolicy<R> = { kind: 'create' } | { kind: 'return'; record: R } | { kind: 'clear'; record: R };

/**
 * Decides what to do about an existing record. Throws `already_exists` for a record that must not be replaced. `attempted` describes the
 * call in the error message.
 */
export function existingRecordPolicy<R extends Existing>(
  existing: R | undefined,
  { attempted, config }: { attempted: string; config: R['config'] },
  { unfinished, finished }: ExistingPhases<R>,
): ExistingPolicy<R> {
  if (existing === undefined) return { kind: 'create' };
  const { id, state } = existing;
  const taken = (why: string) => new PodwrightError('already_exists', `${attempted}: ${id} has this name and ${why}`);
  if (unfinished.includes(state.phase)) return { kind: 'clear', record: existing };
  if (state.phase !== finished) throw taken(`is ${state.phase}; remove it, or use another attempt`);
  const difference = firstDifference(existing.config, config);
  if (difference !== undefined) throw taken(`was created with another ${difference || 'configuration'}`);
  return { kind: 'return', record: existing };
}
