import { type EventRecorder, eventSubject, type Pod } from '@podwright/kube-api';
import { HELD_RETRY_MS } from './limits.ts';
import type { SyncOutcome } from './pod-workers.ts';

/** What keeps pods waiting that is no fault of theirs. */
export type Obstacles = { runtimeErrors: () => string[]; networkError: () => string | undefined };

/**
 * Whether a pod must wait: while the runtime is down all do, without the runtime's network those that are not in the host's, with
 * upstream's event. `undefined` if it can go on.
 */
export function holdPod(pod: Pod, obstacles: Obstacles, events: EventRecorder): SyncOutcome | undefined {
  const wait = { ended: false, retryAtMs: Date.now() + HELD_RETRY_MS };
  if (obstacles.runtimeErrors().length > 0) return wait;
  const error = obstacles.networkError();
  if (error === undefined || pod.spec.hostNetwork === true) return undefined;
  events.event(eventSubject(pod), 'Warning', 'NetworkNotReady', `network is not ready: ${error}`);
  return wait;
}
