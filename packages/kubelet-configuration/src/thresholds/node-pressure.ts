import { PRESSURE_CONDITIONS, type PressureCondition } from './signals.ts';

/** The pressure conditions of the node, set by the eviction manager. */
export class NodePressure {
  #conditions: readonly PressureCondition[] = [];
  /** Each threshold that is met, as text. */
  #reasons: readonly string[] = [];
  readonly #sinceMs = new Map<PressureCondition, number>();
  readonly #listeners = new Set<(changed: readonly PressureCondition[]) => void>();

  /** Active conditions, in the order of `PRESSURE_CONDITIONS`. */
  get conditions(): readonly PressureCondition[] {
    return this.#conditions;
  }

  /** The thresholds met now, as text; empty while a condition only persists for its transition period. */
  get reasons(): readonly string[] {
    return this.#reasons;
  }

  has(condition: PressureCondition): boolean {
    return this.#conditions.includes(condition);
  }

  /** The time of the condition's last transition in Unix milliseconds; `undefined` before the first one. */
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

  /** Calls the listener with the conditions that became active or inactive; the returned function unsubscribes it. */
  onChange(listener: (changed: readonly PressureCondition[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
