import type { Node, Taint } from '@podwright/kube-api';

const PREFIX = 'node.kubernetes.io/';

/** The taint for each condition and status (upstream's node lifecycle controller). */
const CONDITION_TAINTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { False: 'not-ready', Unknown: 'unreachable' },
  MemoryPressure: { True: 'memory-pressure' },
  DiskPressure: { True: 'disk-pressure' },
  PIDPressure: { True: 'pid-pressure' },
  NetworkUnavailable: { True: 'network-unavailable' },
};

/**
 * Returns a node's taints, including those implied by its conditions even if no controller has set them yet: a node that is not ready or
 * short of memory accepts only pods that tolerate the corresponding taint. A node without a `Ready` condition is not ready.
 */
export function taintsOf({ spec, status }: Node): Taint[] {
  const conditions = status?.conditions ?? [];
  const known = conditions.some(({ type }) => type === 'Ready') ? conditions : [...conditions, NOT_READY];
  const implied = known.flatMap((condition) => CONDITION_TAINTS[condition.type]?.[condition.status] ?? []);
  const own = spec?.taints ?? [];
  const isSet = (key: string) => own.some((taint) => taint.key === key && taint.effect === 'NoSchedule');
  const keys = implied.map((name) => `${PREFIX}${name}`).filter((key) => !isSet(key));
  return [...own, ...keys.map((key) => ({ key, effect: 'NoSchedule' }))];
}

const NOT_READY = { type: 'Ready', status: 'False' } as const;
