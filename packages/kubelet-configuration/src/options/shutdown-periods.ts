import { SYSTEM_CRITICAL_PRIORITY } from '@podwright/kube-api';

/** The grace period for pods with at least this priority, but below the priority of the next entry. */
export type ShutdownPeriod = { priority: number; gracePeriodSeconds: number };

/**
 * Returns the configured shutdown periods, lowest priority first. The list is empty if graceful shutdown is disabled. Input durations are
 * in milliseconds.
 */
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
