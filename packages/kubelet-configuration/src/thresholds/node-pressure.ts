import { PRESSURE_CONDITIONS, type PressureCondition } from './signals.ts';

/** The node's pressure conditions. The eviction manager sets them. */
export class NodePressure {
  #conditions: readonly PressureCondition[] = [];
  /** The thresholds that are met, as text. */
  #reasons: readonly string[] = [];
  readonly #sinceMs = new Map<PressureCondition, number>();
  readonly #listeners = new Set<(changed: readonly PressureCondition[]) => void>();

  /** Active conditions, in the order of `PRESSURE_CONDITIONS`. */
  get conditions(): readonly PressureCondition[] {
    return this.#conditions;
  }

  /** The thresholds that are met now, as text. Empty if a condition only remains for its transition period. */
  get reasons(): readonly string[] {
    return this.#reasons;
  }

  has(condition: PressureCondition): boolean {
    return this.#conditions.includes(condition);
  }

  /** When the condition last changed, as Unix time in ms; `undefined` if it never has. */
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

  /** Calls the listener with the conditions that have become active or inactive, until the returned function is called. */
  onChange(listener: (changed: readonly PressureCondition[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
