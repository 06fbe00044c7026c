import { Backoff, type BackoffPolicy } from '@podwright/base';
import { type Container, formatDuration, type Pod, resourcesKey } from '@podwright/kube-api';
import { describePod } from '../kubecontainer/pod-identity.ts';
import type { RuntimeContainer, RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import type { WaitingReason } from '../kubecontainer/sync-result.ts';

export type CrashDelay = { waiting: WaitingReason; retryAtMs: number };

/** A container that is to be started, and what the runtime has of its pod. */
export type Restart = { pod: Pod; container: Container; status: RuntimePodStatus };

/** Two clocks in milliseconds: the wall clock, and a monotonic one. */
export type Clocks = { wallMs: () => number; monotonicMs: () => number };

const HOST_CLOCKS: Clocks = { wallMs: Date.now, monotonicMs: () => performance.now() };

/**
 * Delays between the restarts of containers: none before the first, then a growing one, counted from the last end of the container.
 * Ends are dated by the runtime's wall clock; each is turned once, when it is first seen, into a time of a clock that nobody
 * sets. So a host's clock that is set back or forward later neither lengthens nor shortens a delay.
 */
export class CrashBackoff {
  readonly #backoff: Backoff;
  readonly #clocks: Clocks;
  /** The last end that was seen of each container. */
  readonly #ends = new Map<string, { id: string; atMs: number }>();
  /** Containers whose restart a person has asked for. */
  readonly #hurried = new Set<string>();

  constructor(policy: BackoffPolicy, clocks: Clocks = HOST_CLOCKS) {
    this.#backoff = new Backoff(policy, clocks.monotonicMs);
    this.#clocks = clocks;
  }

  /** Why the container may not be started again yet. */
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

  /** The container is about to be started: from its next end on, the next delay is in force. */
  count(restart: Restart): void {
    const endedAtMs = this.#endOf(restart);
    if (endedAtMs !== undefined) this.#backoff.next(crashKey(restart.pod, restart.container), endedAtMs);
  }

  /** Remembers when the container ended, before it is removed from the runtime. */
  note(restart: Restart): void {
    this.#endOf(restart);
  }

  /** Its next restart waits out no delay. */
  forget(pod: Pod, container: Container): void {
    const key = crashKey(pod, container);
    this.#backoff.forget(key);
    this.#ends.delete(key);
    this.#hurried.delete(key);
  }

  /** A person asks for its restart, which comes before those of other crashed containers. */
  hurry(pod: Pod, container: Container): void {
    this.forget(pod, container);
    this.#hurried.add(crashKey(pod, container));
  }

  /** Whether the restart that is due takes its turn among those of crashed containers. To be asked once for each. */
  takesTurn(pod: Pod, container: Container): boolean {
    return !this.#hurried.delete(crashKey(pod, container));
  }

  /** Drops what no restart of the last while counts on. */
  collectGarbage(): void {
    this.#backoff.collectGarbage();
    for (const key of this.#ends.keys()) if (this.#backoff.delayOf(key) === 0) this.#ends.delete(key);
    this.#hurried.clear(); // whoever was to be restarted at once has been
  }

  /** When the container ended last, by the monotonic clock, also if it is removed since. One that runs, even if it is being killed, has not ended yet. */
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
 * A container with another image or other resources begins anew, as upstream's does: it may have crashed for want of what it has now.
 * One that gets back what it had goes on where it was.
 */
function crashKey(pod: Pod, container: Container): string {
  return [pod.metadata.uid, container.name, container.image, resourcesKey(container.resources)].join('\0');
}
