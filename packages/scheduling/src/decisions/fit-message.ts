import type { Rejection } from '../filters/filter.ts';

/** The message in a pod's condition and event if there are no nodes at all. */
export const NO_NODES = 'no nodes available to schedule pods';

export type Misfit = {
  nodeCount: number;
  rejections: Iterable<Rejection>;
  /** The reason for rejecting the pod without examining any node; undefined if the nodes were examined. */
  refusal?: string;
  /** The result of trying preemption, starting with `preemption: `. */
  preemption?: string;
};

/** Returns upstream's message for a pod that fits on no node, such as `0/1 nodes are available: 1 Insufficient cpu. preemption: …`. */
export function fitMessage({ nodeCount, rejections, refusal, preemption }: Misfit): string {
  const parts = [`0/${nodeCount} nodes are available:`];
  if (refusal !== undefined) parts.push(`${refusal}.`);
  else {
    const counts = new Map<string, number>();
    for (const reason of [...rejections].flatMap(({ reasons }) => reasons))
      counts.set(reason, (counts.get(reason) ?? 0) + 1);
    const texts = [...counts].map(([reason, count]) => `${count} ${reason}`).sort();
    if (texts.length > 0) parts.push(`${texts.join(', ')}.`);
  }
  if (preemption !== undefined) parts.push(preemption);
  return parts.join(' ');
}
