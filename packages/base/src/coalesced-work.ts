/**
 * Runs work that processes the current state, one run at a time. Calls made during a run are coalesced into the next one, so at most one
 * run is pending.
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

  /** Resolves once every run requested before this call has ended, whether it succeeded or not. */
  settled(): Promise<void> {
    return this.#last.catch(() => undefined);
  }
}
