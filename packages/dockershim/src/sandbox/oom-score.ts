import { readFileSync } from 'node:fs';

/** Bit of CAP_SYS_RESOURCE (linux/capability.h). */
const CAP_SYS_RESOURCE = 24n;

/**
 * The `oom_score_adj` of a container: the requested value. Without CAP_SYS_RESOURCE it is at least the value of this process, which the
 * Engine has as well if both run in one container, because runc fails with a lower value.
 */
export function allowedOomScoreAdj(wanted: number): number {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  if ((BigInt(`0x${effective}`) >> CAP_SYS_RESOURCE) & 1n) return wanted;
  return Math.max(wanted, Number(readFileSync('/proc/self/oom_score_adj', 'utf8')));
}
