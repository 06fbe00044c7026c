export type ProbeKind = 'startup' | 'readiness' | 'liveness';

/** The result of a probe; `unknown` until one of its thresholds is reached for the first time. */
export type ProbeResult = 'unknown' | 'success' | 'failure';

/** A changed probe result, or a container's initial result. */
export type ProbeResultUpdate = {
  kind: ProbeKind;
  podUid: string;
  containerName: string;
  containerId: string;
  result: ProbeResult;
};

/** The latest results of one kind of probe, by container ID. Listeners are called only on changes. */
export class ProbeResults {
  readonly #results = new Map<string, ProbeResult>();
  readonly #listeners = new Set<(update: ProbeResultUpdate) => void>();

  get(containerId: string): ProbeResult | undefined {
    return this.#results.get(containerId);
  }

  set(update: ProbeResultUpdate): void {
    if (this.#results.get(update.containerId) === update.result) return;
    this.#results.set(update.containerId, update.result);
    for (const listener of this.#listeners) listener(update);
  }

  remove(containerId: string): void {
    this.#results.delete(containerId);
  }

  onChange(listener: (update: ProbeResultUpdate) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
