/**
 * The pods and containers whose creation has been reported to plugins, or would have been if a plugin had been connected. A new plugin
 * receives exactly these. Each stop and removal is reported to plugins only once.
 */
export class KnownObjects {
  readonly #states = new Map<string, 'running' | 'stopped'>();

  set(id: string, state: 'running' | 'stopped'): void {
    this.#states.set(id, state);
  }

  has(id: string): boolean {
    return this.#states.has(id);
  }

  /** Whether the pod or container has been added and has not been stopped. */
  isRunning(id: string): boolean {
    return this.#states.get(id) === 'running';
  }

  /** Records a stop. Returns false if the pod or container is unknown or has already been stopped. */
  stop(id: string): boolean {
    if (!this.isRunning(id)) return false;
    this.set(id, 'stopped');
    return true;
  }

  remove(id: string): void {
    this.#states.delete(id);
  }
}
