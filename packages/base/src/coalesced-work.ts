/**
 * Work on what there is by then, one run at a time. Whoever asks while one runs shares the run after it, so that never more than one
 * waits, however often it is asked for.
 */
export class CoalescedWork<T = void> {
  readonly #work: () => Promise<T>;
  #last: Promise<void> = Promise.resolve();
  #next: Promise<T> | undefined;

  constructor(work: () => Promise<T>) {
    this.#work = work;
  }

  /** Resolves, or rejects, with a run that began after the call. */
  run(): Promise<T> {
    if (this.#next === undefined) {
      this.#next = this.settled().then(() => {
        this.#next = undefined;
        return this.#work();
      });
      // without what it gave, which nobody may ask for again
      this.#last = this.#next.then(
        () => undefined,
        () => undefined,
      );
    }
    return this.#next;
  }

  /** Resolves once nothing runs or waits of what was asked for by now. */
  settled(): Promise<void> {
    return this.#last;
  }
}
