import { errorMessage } from './errors.ts';

/** What could not be undone: the step's name and why. */
export type UndoFailure = { step: string; error: unknown };

/**
 * Rollback as an object: right after acquiring something, add how to give it back. `run` undoes the steps
 * in reverse order and reports the ones that failed, so that the caller can keep a record of them.
 */
export class Undo {
  #steps: { name: string; undo: () => Promise<void> | void }[] = [];

  add(name: string, undo: () => Promise<void> | void): void {
    this.#steps.push({ name, undo });
  }

  /** Forgets all steps: the work succeeded. */
  commit(): void {
    this.#steps = [];
  }

  /** Undoes every step, newest first; a failing step does not stop the others. */
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

/** The failures as one line for a log or an error message. */
export function describeUndoFailures(failures: UndoFailure[]): string {
  return failures.map(({ step, error }) => `${step}: ${errorMessage(error)}`).join('; ');
}
