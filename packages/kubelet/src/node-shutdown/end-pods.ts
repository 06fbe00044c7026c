import type { Logger } from '@podwright/base';
import { type EventRecorder, namespacedName, type Pod } from '@podwright/kube-api';
import { stopsInTime } from '../events/stops-in-time.ts';
import { type PodVerdict, SHUT_DOWN } from '../kubecontainer/sync-result.ts';
import { groupPods, type ShutdownPeriod, shutdownGraceSeconds } from './shutdown-groups.ts';

export type PodEnder = {
  /** Pods that have something running or may get it, also once another has ended. */
  pods(): Pod[];
  /** Begins the end of a pod; it stays to be seen. */
  end(pod: Pod, how: { gracePeriodSeconds: number; verdict: PodVerdict }): void;
  /** Resolves when nothing of the pod runs any more. */
  whenStopped(podUid: string): Promise<void>;
  /** Resolves when the pod has no volume mounted any more, either. */
  whenReleased(podUid: string, signal: AbortSignal): Promise<void>;
  /** Waits; resolves early when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** The shutdown was cancelled: pods that no one else makes anew begin again. */
  bringBack(): void;
  events: EventRecorder;
  logger: Logger;
};

/**
 * Ends all pods, those of one period after those of the period before. A period is over when all of its pods have given back what they
 * held, or after its time; where there is no pod nothing is waited for. Resolves at once when the signal aborts.
 */
export async function endPodsInOrder(ender: PodEnder, periods: ShutdownPeriod[], signal: AbortSignal): Promise<void> {
  for (const { period, pods } of groupPods(periods, ender.pods())) {
    if (signal.aborted) return;
    const { priority, gracePeriodSeconds } = period;
    const over = new AbortController();
    const ended = pods.map((pod) => endPod(ender, pod, { seconds: shutdownGraceSeconds(pod, period), signal }));
    const released = pods.map(({ metadata }) => ender.whenReleased(metadata.uid, over.signal));
    const done = Promise.all([...ended, ...released]).then(() => true);
    const inTime = await Promise.race([
      done,
      ender.sleep(gracePeriodSeconds * 1000, AbortSignal.any([signal, over.signal])).then(() => false),
    ]);
    over.abort();
    const fields = { priority, gracePeriodSeconds, pods: pods.map(namespacedName) };
    if (inTime) ender.logger.info(fields, 'the pods of a priority have ended for the shutdown of the host');
    else ender.logger.warn(fields, 'the time of the pods of a priority is over before the shutdown of the host');
  }
}

async function endPod(
  ender: PodEnder,
  pod: Pod,
  { seconds: gracePeriodSeconds, signal }: { seconds: number; signal: AbortSignal },
): Promise<void> {
  ender.end(pod, { gracePeriodSeconds, verdict: SHUT_DOWN });
  await stopsInTime(pod, { ...ender, stopped: ender.whenStopped(pod.metadata.uid), gracePeriodSeconds, signal });
}
