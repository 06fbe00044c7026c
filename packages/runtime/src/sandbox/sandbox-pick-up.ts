import { isDeepStrictEqual } from 'node:util';
import type { SandboxConfig, SandboxRecord } from '../records/sandbox-record.ts';

/**
 * What a RunPodSandbox does about a sandbox of the same name that is there already. `return`: the earlier call finished after
 * its caller had gone, or its answer was lost. `clear`: the earlier call could not roll back everything; finish that first.
 */
export type PickUp = { kind: 'create' } | { kind: 'return' } | { kind: 'clear' } | { kind: 'refuse'; why: string };

export function decidePickUp(existing: SandboxRecord | undefined, config: SandboxConfig): PickUp {
  if (existing === undefined) return { kind: 'create' };
  const { phase } = existing.state;
  if (phase === 'creating' || phase === 'broken') return { kind: 'clear' };
  if (phase !== 'ready') return { kind: 'refuse', why: `it is ${phase}; remove it, or use another attempt` };
  if (isDeepStrictEqual(existing.config, config)) return { kind: 'return' };
  return { kind: 'refuse', why: 'it was made from another configuration' };
}
