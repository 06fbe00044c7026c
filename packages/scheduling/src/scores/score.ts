import type { Pod } from '@podwright/kube-api';
import type { NodeState, Snapshot } from '../cluster/snapshot.ts';

/** Scores by node name; higher is better. */
export type Score = (pod: Pod, nodes: readonly NodeState[], snapshot: Snapshot) => Map<string, number>;

/** Maximum score of a plugin, before its weight is applied. */
export const MAX_SCORE = 100;

/** Scales numbers to 0…100, reversing their order if `isReversed` is set (upstream's DefaultNormalizeScore). */
export function scaled(numbers: ReadonlyMap<string, number>, { isReversed = false } = {}): Map<string, number> {
  const most = Math.max(0, ...numbers.values());
  const scale = (value: number) => {
    const part = most === 0 ? 0 : Math.floor((value * MAX_SCORE) / most);
    return isReversed ? MAX_SCORE - part : part;
  };
  return new Map([...numbers].map(([name, value]) => [name, scale(value)]));
}
