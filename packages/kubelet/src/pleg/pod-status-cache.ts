import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';

/**
 * A cached status, which includes everything that happened before `asOfMs` (monotonic milliseconds). `byEvent`: it comes from an event, so
 * the runtime's next event is newer.
 */
export type CachedStatus = { status: RuntimePodStatus; asOfMs: number; byEvent?: boolean };

/** The latest status of each pod. A status is never replaced by an older one. */
export class PodStatusCache {
  readonly #entries = new Map<string, CachedStatus>();

  get(podUid: string): CachedStatus | undefined {
    return this.#entries.get(podUid);
  }

  /** Returns false if the cached status is newer. */
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
