import { firstDifference, PodwrightError } from '@podwright/base';
import type { NamedRecord } from '@podwright/metadata';

type Existing = NamedRecord & { config: object; state: { phase: string } };

/** Phases of records that a call with the same name meets: what was never finished, and what the call would have made. */
export type ExistingPhases<R extends Existing> = {
  unfinished: readonly R['state']['phase'][];
  finished: R['state']['phase'];
};

/**
 * What RunPodSandbox and CreateContainer do about a record that has the name already. `return`: the earlier call finished after
 * its caller had gone, or its response was lost. `clear`: the earlier call could not roll back everything; finish that
 * first.
 */
export type ExistingPolicy<R> = { kind: 'create' } | { kind: 'return'; record: R } | { kind: 'clear'; record: R };

/** Decides that. A record that must stay is an `already_exists`; `attempted` is what the error says of the call. */
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
  if (difference !== undefined) throw taken(`was made with another ${difference || 'configuration'}`);
  return { kind: 'return', record: existing };
}
