import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';

/**
 * A cached pod status, current as of `asOfMs` (monotonic milliseconds). `byEvent`: the status comes from an event, so the container
 * runtime's next event is newer.
 */
export type CachedStatus = { status: RuntimePodStatus; asOfMs: number; byEvent?: boolean };

/** The latest status of each pod. A status is never replaced by an older one. */
export class PodStatusCache {
  readonly #entries = new Map<string, CachedStatus>();

  get(podUid: string): CachedStatus | undefined {
    return this.#entries.get(podUid);
  }

  /** Stores the status. Returns false if the cached one is newer. */
  set(podUid: string, entry: CachedStatus): boolean {
    const known = this.#entries.get(podUid);
    if (known !== undefined && known.asOfMs > entry.asOfMs) return false;
    this.#entries.set(podUid, entry);
    return true;
  }

  delete(podUid: string): void {
    this.#entries.delete(podUid);
  }

  list(): RuntimePodStatus[] {
    return [...this.#entries.values()].map(({ status }) => status);
  }
}
