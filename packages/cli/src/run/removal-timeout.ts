import type { Pod } from '@podwright/kube-api';
import { REMOVAL_SPARE_MS } from '../limits.ts';

/** Kubernetes' default for `terminationGracePeriodSeconds`. */
const DEFAULT_GRACE_SECONDS = 30;

/** Returns how long to wait for deleted pods to be removed, in milliseconds. `gracePeriodSeconds` overrides the pods' own grace periods. */
export function removalTimeoutMs(
  pods: Pod[],
  { gracePeriodSeconds, spareMs = REMOVAL_SPARE_MS }: { gracePeriodSeconds: number | undefined; spareMs?: number },
): number {
  const graces = pods.map(
    ({ spec }) => gracePeriodSeconds ?? spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS,
  );
  return Math.max(0, ...graces) * 1000 + spareMs;
}
