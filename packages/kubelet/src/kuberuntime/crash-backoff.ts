import { Backoff, type BackoffPolicy } from '@podwright/base';
import { type Container, formatDuration, type Pod, resourcesKey } from '@podwright/kube-api';
import { describePod } from '../kubecontainer/pod-identity.ts';
import type { RuntimeContainer, RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import type { WaitingReason } from '../kubecontainer/sync-result.ts';

export type CrashDelay = { waiting: WaitingReason; retryAtMs: number };

/** A container to start or restart, and its pod's status in the container runtime. */
export type Restart = { pod: Pod; container: Container; status: RuntimePodStatus };

/** A wall clock and a monotonic clock, both in milliseconds. */
export type Clocks = { wallMs: () => number; monotonicMs: () => number };

const HOST_CLOCKS: Clocks = { wallMs: Date.now, monotonicMs: () => performance.now() };

/**
 * Exponential back-off between restarts of a container, starting at the container's last exit. The first restart is not delayed. The
 * container runtime timestamps exits with the wall clock; they are converted to monotonic time when first seen, so that later wall-clock
 * changes do not affect the delay.
 */
export class CrashBackoff {
  readonly #backoff: Backoff;
  readonly #clocks: Clocks;
  /** The last observed exit of each container. */
  readonly #ends = new Map<string, { id: string; atMs: number }>();
  /** Containers for which a client has requested a restart. */
  readonly #requested = new Set<string>();

  constructor(policy: BackoffPolicy, clocks: Clocks = HOST_CLOCKS) {
    this.#backoff = new Backoff(policy, clocks.monotonicMs);
    this.#clocks = clocks;
  }

  /** Returns the remaining delay before the container may be restarted; `undefined` if it may restart now. */
  delay(restart: Restart): CrashDelay | undefined {
    const { pod, container } = restart;
    const endedAtMs = this.#endOf(restart);
    if (endedAtMs === undefined) return undefined;
    const key = crashKey(pod, container);
    const remainingMs = this.#backoff.remainingMs(key, endedAtMs);
    if (remainingMs === 0) return undefined;
    const delay = formatDuration(this.#backoff.delayOf(key));
    const message = `back-off ${delay} restarting failed container=${container.name} pod=${describePod(pod)}`;
    return { waiting: { reason: 'CrashLoopBackOff', message }, retryAtMs: this.#clocks.wallMs() + remainingMs };
  }

  /** Counts a restart. Must be called before the container is created, so that its next exit already causes the next, longer delay. */
  count(restart: Restart): void {
    const endedAtMs = this.#endOf(restart);
    if (endedAtMs !== undefined) this.#backoff.next(crashKey(restart.pod, restart.container), endedAtMs);
  }

  /** Records a container's exit before it is removed from the container runtime. */
  note(restart: Restart): void {
    this.#endOf(restart);
  }

  /** Resets the back-off, so that the next restart is not delayed. */
  forget(pod: Pod, container: Container): void {
    const key = crashKey(pod, container);
    this.#backoff.forget(key);
    this.#ends.delete(key);
    this.#requested.delete(key);
  }

  /** Resets the back-off for a restart requested by a client. The restart also bypasses the queue for crashed containers. */
  hurry(pod: Pod, container: Container): void {
    this.forget(pod, container);
    this.#requested.add(crashKey(pod, container));
  }

  /**
   * Whether a restart must queue with the restarts of other crashed containers. Must be called only once per restart, because it clears the
   * client's request.
   */
  takesTurn(pod: Pod, container: Container): boolean {
    return !this.#requested.delete(crashKey(pod, container));
  }

  collectGarbage(): void {
    this.#backoff.collectGarbage();
    for (const key of this.#ends.keys()) if (this.#backoff.delayOf(key) === 0) this.#ends.delete(key);
    this.#requested.clear(); // a requested restart happens immediately, so the remaining requests are leftovers
  }

  /**
   * Returns the monotonic time of the container's last exit, even if it has since been removed. A container that is still being killed has
   * not exited yet.
   */
  #endOf({ pod, container, status }: Restart): number | undefined {
    const ended = status.containers.find(({ name, state }) => name === container.name && state === 'exited');
    const key = crashKey(pod, container);
    return ended === undefined ? this.#ends.get(key)?.atMs : this.#monotonicEnd(key, ended);
  }

  #monotonicEnd(key: string, { id, finishedAtMs }: RuntimeContainer): number {
    const known = this.#ends.get(key);
    if (known?.id === id) return known.atMs;
    const atMs = this.#clocks.monotonicMs() - Math.max(0, this.#clocks.wallMs() - finishedAtMs);
    this.#ends.set(key, { id, atMs });
    return atMs;
  }
}

/**
 * Returns the key for a container's back-off. As in upstream, changing the image or the resources starts a new back-off, because that may
 * fix the crash; reverting the change resumes the old one.
 */
function crashKey(pod: Pod, container: Container): string {
  return [pod.metadata.uid, container.name, container.image, resourcesKey(container.resources)].join('\0');
}
