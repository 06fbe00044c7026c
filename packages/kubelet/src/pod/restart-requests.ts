/**
 * Running containers that clients have asked to restart, recorded until they have exited. In memory only: the requests are lost if the
 * kubelet restarts.
 */
export class RestartRequests {
  readonly #byPod = new Map<string, Set<string>>();

  add(podUid: string, containerIds: string[]): void {
    this.#byPod.set(podUid, new Set([...(this.#byPod.get(podUid) ?? []), ...containerIds]));
  }

  has(podUid: string, containerId: string): boolean {
    return this.#byPod.get(podUid)?.has(containerId) ?? false;
  }

  /** Drops restart requests for the pod's containers that are no longer running. */
  keepOnly(podUid: string, running: { id: string }[]): void {
    const requested = this.#byPod.get(podUid);
    if (requested === undefined) return;
    const remaining = running.filter(({ id }) => requested.has(id)).map(({ id }) => id);
    if (remaining.length === 0) this.#byPod.delete(podUid);
    else this.#byPod.set(podUid, new Set(remaining));
  }
}
