import type { Pod } from '@podwright/kube-api';
import { REMOVAL_SPARE_MS } from '../limits.ts';

/** Kubernetes' default of `terminationGracePeriodSeconds`. */
const DEFAULT_GRACE_SECONDS = 30;

/** How long, in ms, to wait for the removal of deleted pods. `gracePeriodSeconds` overrides the grace periods of the pods. */
export function removalTimeoutMs(
  pods: Pod[],
  { gracePeriodSeconds, spareMs = REMOVAL_SPARE_MS }: { gracePeriodSeconds: number | undefined; spareMs?: number },
): number {
  const graces = pods.map(
    ({ spec }) => gracePeriodSeconds ?? spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS,
  );
  return Math.max(0, ...graces) * 1000 + spareMs;
}
