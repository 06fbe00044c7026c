import { type EventRecorder, eventSubject, type Pod } from '@podwright/kube-api';
import { HELD_RETRY_MS } from './limits.ts';
import type { SyncOutcome } from './pod-workers.ts';

/** Node problems that hold up pods: container runtime errors, and an error of the runtime's network. */
export type Obstacles = { runtimeErrors: () => string[]; networkError: () => string | undefined };

/**
 * Holds up a pod's sync while the container runtime is down, or while the pod needs a pod network and the runtime's network is not ready
 * (with upstream's NetworkNotReady event). Returns `undefined` if the sync can proceed.
 */
export function holdPod(pod: Pod, obstacles: Obstacles, events: EventRecorder): SyncOutcome | undefined {
  const wait = { ended: false, retryAtMs: Date.now() + HELD_RETRY_MS };
  if (obstacles.runtimeErrors().length > 0) return wait;
  const error = obstacles.networkError();
  if (error === undefined || pod.spec.hostNetwork === true) return undefined;
  events.event(eventSubject(pod), 'Warning', 'NetworkNotReady', `network is not ready: ${error}`);
  return wait;
}
