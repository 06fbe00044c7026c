import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';

/**
 * A pod as it was seen: everything that happened before `asOfMs` (monotonic milliseconds) is in it. `byEvent` if the runtime told it
 * in an event: the next event of the runtime is newer.
 */
export type CachedStatus = { status: RuntimePodStatus; asOfMs: number; byEvent?: boolean };

/** The last seen status of each pod. Older sights never replace newer ones. */
export class PodStatusCache {
  readonly #entries = new Map<string, CachedStatus>();

  get(podUid: string): CachedStatus | undefined {
    return this.#entries.get(podUid);
  }

  /** Returns false if a newer sight is there already. */
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
