import { readFileSync } from 'node:fs';

/** Bit number of CAP_SYS_RESOURCE (linux/capability.h). */
const CAP_SYS_RESOURCE = 24n;

/**
 * Returns the `oom_score_adj` for a container. Without CAP_SYS_RESOURCE, the requested value is raised to at least that of this process,
 * because runc could not set a lower one. Assumes that the Engine runs with the same value, as it does if both run in the same container.
 */
export function allowedOomScoreAdj(wanted: number): number {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  if ((BigInt(`0x${effective}`) >> CAP_SYS_RESOURCE) & 1n) return wanted;
  return Math.max(wanted, Number(readFileSync('/proc/self/oom_score_adj', 'utf8')));
}
