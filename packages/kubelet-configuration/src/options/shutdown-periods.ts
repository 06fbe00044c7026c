import { SYSTEM_CRITICAL_PRIORITY } from '@podwright/kube-api';

/** The grace period of pods with this priority or more, up to the priority of the next period. */
export type ShutdownPeriod = { priority: number; gracePeriodSeconds: number };

/**
 * Returns the periods of a configuration, lowest priority first; none if graceful shutdown is disabled. Input durations are in
 * ms.
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
