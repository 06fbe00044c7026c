import { errorMessage } from './errors.ts';

/** A step that could not be undone, and the error. */
export type UndoFailure = { step: string; error: unknown };

/**
 * A rollback stack. Right after acquiring a resource, the caller adds a step that releases it. `run` executes the steps in reverse order
 * and returns those that failed, so that the caller can record them.
 */
export class Undo {
  #steps: { name: string; undo: () => Promise<void> | void }[] = [];

  add(name: string, undo: () => Promise<void> | void): void {
    this.#steps.push({ name, undo });
  }

  /** Drops all steps, because the work has succeeded. */
  commit(): void {
    this.#steps = [];
  }

  /** Executes all steps, newest first. A failing step does not prevent the others from running. */
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

/** Formats the failures on a single line for a log or error message. */
export function describeUndoFailures(failures: UndoFailure[]): string {
  return failures.map(({ step, error }) => `${step}: ${errorMessage(error)}`).join('; ');
}
