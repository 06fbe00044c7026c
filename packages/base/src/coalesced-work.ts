/**
 * Work on what there is by then, one run at a time. Whoever asks while one runs shares the run after it, so that never more than one
 * waits, however often it is asked for.
 */
export class CoalescedWork {
  readonly #work: () => Promise<void>;
  #last: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Resolves, or rejects, with a run that began after the call. */
  run(): Promise<void> {
    if (this.#next === undefined) {
      this.#next = this.settled().then(() => {
        this.#next = undefined;
        return this.#work();
      });
      this.#last = this.#next;
    }
    return this.#next;
  }

  /** Resolves once nothing runs or waits of what was asked for by now. */
  settled(): Promise<void> {
    return this.#last.catch(() => undefined);
  }
}
