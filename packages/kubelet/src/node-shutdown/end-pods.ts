import type { Logger } from '@podwright/base';
import { type EventRecorder, namespacedName, type Pod } from '@podwright/kube-api';
import type { ShutdownPeriod } from '@podwright/kubelet-configuration';
import { stopsInTime } from '../events/stops-in-time.ts';
import { type PodVerdict, SHUT_DOWN } from '../kubecontainer/sync-result.ts';
import { groupPods, shutdownGraceSeconds } from './shutdown-groups.ts';

export type PodEnder = {
  /** Pods that are running or may still start, including those waiting for another pod to stop. */
  pods(): Pod[];
  /** Begins to stop a pod; the Pod object is not deleted. */
  end(pod: Pod, how: { gracePeriodSeconds: number; verdict: PodVerdict }): void;
  /** Resolves once none of the pod's processes are running. */
  whenStopped(podUid: string): Promise<void>;
  /** Resolves once the pod has stopped and its volumes have been unmounted. */
  whenReleased(podUid: string, signal: AbortSignal): Promise<void>;
  /** Sleeps; resolves early if the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Called if the shutdown is cancelled: restarts static pods, because no controller recreates them. */
  bringBack(): void;
  events: EventRecorder;
  logger: Logger;
};

/**
 * Stops all pods, one shutdown period at a time. A period ends once all of its pods have released their resources, or when its grace period
 * is over; periods without pods are skipped. Resolves immediately if the signal aborts.
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
    if (inTime) ender.logger.info(fields, 'the pods of a priority have stopped for the shutdown of the host');
    else
      ender.logger.warn(
        fields,
        'some pods of a priority have not stopped within their time before the shutdown of the host',
      );
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
