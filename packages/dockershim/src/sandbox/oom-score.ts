import { readFileSync } from 'node:fs';

/** Number of the bit of CAP_SYS_RESOURCE (linux/capability.h). */
const CAP_SYS_RESOURCE = 24n;

/**
 * The `oom_score_adj` for a container: the requested value or, without CAP_SYS_RESOURCE, at least that of this process, because runc would
 * fail to set a lower one. That assumes that the Engine runs with the same value, as it does if both run in one container.
 */
export function allowedOomScoreAdj(wanted: number): number {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  if ((BigInt(`0x${effective}`) >> CAP_SYS_RESOURCE) & 1n) return wanted;
  return Math.max(wanted, Number(readFileSync('/proc/self/oom_score_adj', 'utf8')));
}
