import { errorMessage } from './errors.ts';

/** A rollback step that failed, and its error. */
export type UndoFailure = { step: string; error: unknown };

/**
 * A rollback stack. Right after acquiring a resource, the caller adds a step that releases it. `run` executes the steps in reverse order
 * and returns the failed ones for the caller to record.
 */
export class Undo {
  #steps: { name: string; undo: () => Promise<void> | void }[] = [];

  add(name: string, undo: () => Promise<void> | void): void {
    this.#steps.push({ name, undo });
  }

  /** Drops all rollback steps, because the work has succeeded. */
  commit(): void {
    this.#steps = [];
  }

  /** Executes all rollback steps, newest first. A failing step does not prevent the others from running. Returns the failures. */
  async run(): Promise<UndoFailure[]> {
    const failures: UndoFailure[] = [];
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      try {
        await step.undo();
      } catch (error) {
        failures.push({ step: step.name, error });
      }
    }
    return failures;
  }
}

/** Formats the failures on a single line for logs and error messages. */
export function describeUndoFailures(failures: UndoFailure[]): string {
  return failures.map(({ step, error }) => `${step}: ${errorMessage(error)}`).join('; ');
}
