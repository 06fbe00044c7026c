/** Containers that somebody asked to restart, until they have ended. Lost with the kubelet: who asked sees that it was not done. */
export class RestartRequests {
  readonly #byPod = new Map<string, Set<string>>();

  add(podUid: string, containerIds: string[]): void {
    this.#byPod.set(podUid, new Set([...(this.#byPod.get(podUid) ?? []), ...containerIds]));
  }

  has(podUid: string, containerId: string): boolean {
    return this.#byPod.get(podUid)?.has(containerId) ?? false;
  }

  /** Forgets the requests for containers of the pod that do not run. */
  keepOnly(podUid: string, running: { id: string }[]): void {
    const asked = this.#byPod.get(podUid);
    if (asked === undefined) return;
    const kept = running.filter(({ id }) => asked.has(id)).map(({ id }) => id);
    if (kept.length === 0) this.#byPod.delete(podUid);
    else this.#byPod.set(podUid, new Set(kept));
  }
}
