import { PRESSURE_CONDITIONS, type PressureCondition } from './signals.ts';

/** What the node is short of: found out by the eviction manager, told to whoever asks. */
export class NodePressure {
  #conditions: readonly PressureCondition[] = [];
  /** In words: each threshold that is met. */
  #reasons: readonly string[] = [];
  readonly #sinceMs = new Map<PressureCondition, number>();
  readonly #listeners = new Set<(changed: readonly PressureCondition[]) => void>();

  /** In the order of `PRESSURE_CONDITIONS`. */
  get conditions(): readonly PressureCondition[] {
    return this.#conditions;
  }

  /** Which thresholds are met now, in words; none while a condition only lasts on. */
  get reasons(): readonly string[] {
    return this.#reasons;
  }

  has(condition: PressureCondition): boolean {
    return this.#conditions.includes(condition);
  }

  /** When it last began or ended, in Unix milliseconds; `undefined` if it never has. */
  changedAtMs(condition: PressureCondition): number | undefined {
    return this.#sinceMs.get(condition);
  }

  set(conditions: readonly PressureCondition[], reasons: readonly string[]): void {
    const changed = PRESSURE_CONDITIONS.filter((one) => conditions.includes(one) !== this.has(one));
    this.#conditions = PRESSURE_CONDITIONS.filter((one) => conditions.includes(one));
    this.#reasons = reasons;
    for (const one of changed) this.#sinceMs.set(one, Date.now());
    if (changed.length > 0) for (const listener of this.#listeners) listener(changed);
  }

  /** Calls back with the conditions that have begun or ended; returns what ends that. */
  onChange(listener: (changed: readonly PressureCondition[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
