import type { Backoff } from '@podwright/base';
import { formatDuration } from '../api/time.ts';
import type { Container, Pod } from '../api/types.ts';
import { describePod } from '../kubecontainer/pod-identity.ts';
import type { RuntimeContainer } from '../kubecontainer/runtime-pod.ts';
import type { WaitingReason } from '../kubecontainer/sync-result.ts';
import { containerHash } from './labels.ts';

/** A changed container begins anew. */
export function crashKey(pod: Pod, container: Container): string {
  return `${pod.metadata.uid}\0${container.name}\0${containerHash(container)}`;
}

export type CrashDelay = { waiting: WaitingReason; retryAtMs: number };

/**
 * Why an ended container may not be started again yet. If it may, its next delay is in force from then on, so this is
 * called exactly once a start. The first restart comes at once.
 */
export function delayRestart(
  backoff: Backoff,
  { pod, container, latest }: { pod: Pod; container: Container; latest: RuntimeContainer | undefined },
): CrashDelay | undefined {
  if (latest?.state !== 'exited') return undefined;
  const key = crashKey(pod, container);
  const remainingMs = backoff.remainingMs(key, latest.finishedAtMs);
  if (remainingMs === 0) {
    backoff.next(key, latest.finishedAtMs);
    return undefined;
  }
  const delay = formatDuration(backoff.delayOf(key));
  const message = `back-off ${delay} restarting failed container=${container.name} pod=${describePod(pod)}`;
  return { waiting: { reason: 'CrashLoopBackOff', message }, retryAtMs: Date.now() + remainingMs };
}
