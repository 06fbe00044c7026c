import { isDeepStrictEqual } from 'node:util';
import type { ContainerConfig, ContainerRecord } from '../records/container-record.ts';

/** What a CreateContainer does about a container of the same name that is there already; see the sandboxes' `PickUp`. */
export type PickUp = { kind: 'create' } | { kind: 'return' } | { kind: 'clear' } | { kind: 'refuse'; why: string };

export function decidePickUp(existing: ContainerRecord | undefined, config: ContainerConfig): PickUp {
  if (existing === undefined) return { kind: 'create' };
  const { phase } = existing.state;
  if (phase === 'creating') return { kind: 'clear' };
  if (phase !== 'created') return { kind: 'refuse', why: `it is ${phase}; remove it, or use another attempt` };
  if (isDeepStrictEqual(existing.config, config)) return { kind: 'return' };
  return { kind: 'refuse', why: 'it was made from another configuration' };
}
