import type { Container, Probe } from '../api/types.ts';

export type ProbeKind = 'startup' | 'readiness' | 'liveness';

export const PROBE_KINDS: readonly ProbeKind[] = ['startup', 'readiness', 'liveness'];

/** The container's probe of that kind, if it has one. */
export function probeOf(container: Container, kind: ProbeKind): Probe | undefined {
  return container[`${kind}Probe`];
}
