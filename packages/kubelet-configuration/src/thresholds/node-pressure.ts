import { PRESSURE_CONDITIONS, type PressureCondition } from './signals.ts';

/** The node's pressure conditions, set by the eviction manager. */
export class NodePressure {
  #conditions: readonly PressureCondition[] = [];
  #reasons: readonly string[] = [];
  readonly #sinceMs = new Map<PressureCondition, number>();
  /** The cause of each pressure condition, for the condition's message. */
  readonly #details = new Map<PressureCondition, string>();
  readonly #listeners = new Set<(changed: readonly PressureCondition[]) => void>();

  /** Active pressure conditions, in the order of `PRESSURE_CONDITIONS`. */
  get conditions(): readonly PressureCondition[] {
    return this.#conditions;
  }

  /** The currently met thresholds, as text. Empty if a condition persists only because of its transition period. */
  get reasons(): readonly string[] {
    return this.#reasons;
  }

  has(condition: PressureCondition): boolean {
    return this.#conditions.includes(condition);
  }

  /** Returns when the pressure condition last changed, as Unix time in milliseconds, or `undefined` if it never has. */
  changedAtMs(condition: PressureCondition): number | undefined {
    return this.#sinceMs.get(condition);
  }

  /** Returns the cause shown in the condition's message; '' if it is unknown or the condition is inactive. */
  detailOf(condition: PressureCondition): string {
    return this.has(condition) ? (this.#details.get(condition) ?? '') : '';
  }

  /** Sets the cause shown in a condition's message. Calls the listeners if this changes the message of an active condition. */
  explain(condition: PressureCondition, detail: string): void {
    const before = this.detailOf(condition);
    this.#details.set(condition, detail);
    if (before !== this.detailOf(condition)) for (const listener of this.#listeners) listener([]);
  }

  set(conditions: readonly PressureCondition[], reasons: readonly string[]): void {
    const changed = PRESSURE_CONDITIONS.filter((one) => conditions.includes(one) !== this.has(one));
    this.#conditions = PRESSURE_CONDITIONS.filter((one) => conditions.includes(one));
    this.#reasons = reasons;
    for (const one of changed) this.#details.delete(one);
    for (const one of changed) this.#sinceMs.set(one, Date.now());
    if (changed.length > 0) for (const listener of this.#listeners) listener(changed);
  }

  /**
   * Registers a listener, which receives the conditions that became active or inactive; none if only a cause has changed. Returns a
   * function that removes the listener.
   */
  onChange(listener: (changed: readonly PressureCondition[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
