/** Groups pods by the order in which they stop before a shutdown (pkg/kubelet/nodeshutdown). Pure. */
import { type Pod, podPriority, SYSTEM_CRITICAL_PRIORITY } from '@podwright/kube-api';
import { DEFAULT_GRACE_SECONDS, LEAST_GRACE_SECONDS } from '../kubecontainer/grace-periods.ts';

/** The time for pods from this priority up to the priority of the next period. */
export type ShutdownPeriod = { priority: number; gracePeriodSeconds: number };

/** The periods of a configuration, lowest priority first; empty if graceful shutdown is disabled. Input durations are in ms. */
export function shutdownPeriods(configuration: {
  shutdownGracePeriod: number;
  shutdownGracePeriodCriticalPods: number;
  shutdownGracePeriodByPodPriority: { priority?: number; shutdownGracePeriodSeconds?: number }[];
}): ShutdownPeriod[] {
  const { shutdownGracePeriod: allMs, shutdownGracePeriodCriticalPods: criticalMs } = configuration;
  const byPriority = configuration.shutdownGracePeriodByPodPriority.map((one) => {
    return { priority: one.priority ?? 0, gracePeriodSeconds: one.shutdownGracePeriodSeconds ?? 0 };
  });
  if (byPriority.length > 0) return byPriority.sort((a, b) => a.priority - b.priority);
  if (allMs === 0) return [];
  return [
    { priority: 0, gracePeriodSeconds: Math.floor((allMs - criticalMs) / 1000) },
    { priority: SYSTEM_CRITICAL_PRIORITY, gracePeriodSeconds: Math.floor(criticalMs / 1000) },
  ];
}

/** The maximum delay of a shutdown. */
export function wholePeriodMs(periods: ShutdownPeriod[]): number {
  return periods.reduce((sum, { gracePeriodSeconds }) => sum + gracePeriodSeconds * 1000, 0);
}

/** The pods of each period, without empty periods. Pods below all priorities belong to the first. */
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

/** The pod's own grace period, limited to its shutdown period. */
export function shutdownGraceSeconds({ spec }: Pod, { gracePeriodSeconds }: ShutdownPeriod): number {
  const own = spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
  return Math.max(LEAST_GRACE_SECONDS, Math.min(own, gracePeriodSeconds));
}
