/**
 * Runs work that processes the current state, one run at a time. Calls made during a run share the next one, so at most one run is pending,
 * no matter how many calls there are.
 */
export class CoalescedWork {
  readonly #work: () => Promise<void>;
  #last: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Requests a run that starts after this call. The promise settles with that run. */
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

  /** Resolves once every run that was requested before this call has ended, successfully or not. */
  settled(): Promise<void> {
    return this.#last.catch(() => undefined);
  }
}
