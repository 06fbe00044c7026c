/** Groups pods by the order in which they are stopped before a shutdown (pkg/kubelet/nodeshutdown). Pure. */
import { type Pod, podPriority } from '@podwright/kube-api';
import type { ShutdownPeriod } from '@podwright/kubelet-configuration';
import { DEFAULT_GRACE_SECONDS, LEAST_GRACE_SECONDS } from '../kubecontainer/grace-periods.ts';

/** Returns the total length of all shutdown periods: the longest possible delay of a shutdown. */
export function wholePeriodMs(periods: ShutdownPeriod[]): number {
  return periods.reduce((sum, { gracePeriodSeconds }) => sum + gracePeriodSeconds * 1000, 0);
}

/**
 * Groups the pods by shutdown period, omitting empty periods. Pods whose priority is below that of every period belong to the first period.
 */
export function groupPods(periods: ShutdownPeriod[], pods: Pod[]): { period: ShutdownPeriod; pods: Pod[] }[] {
  const periodOf = (pod: Pod) => {
    const own = podPriority(pod);
    const exact = periods.find(({ priority }) => priority === own);
    return exact ?? periods.findLast(({ priority }) => priority < own) ?? periods[0];
  };
  return periods
    .map((period) => ({ period, pods: pods.filter((pod) => periodOf(pod) === period) }))
    .filter((group) => group.pods.length > 0);
}

/** Returns the pod's own grace period, capped at that of its shutdown period. */
export function shutdownGraceSeconds({ spec }: Pod, { gracePeriodSeconds }: ShutdownPeriod): number {
  const own = spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
  return Math.max(LEAST_GRACE_SECONDS, Math.min(own, gracePeriodSeconds));
}
