import { ignoreFailure, PodwrightError, wrapError } from '@podwright/base';

export type GroupSyncOptions = {
  /** Makes all recorded writes survive a power failure. Undefined: recorded writes need nothing further. */
  sync?: () => Promise<void>;
  /** Called, in order, with the revision up to which the writes are durable. */
  durable: (revision: number) => void;
  /** Called once, if a sync fails. */
  onFailed?: (error: PodwrightError) => void;
};

/** One sync. It covers the writes up to `revision`. */
type Round = PromiseWithResolvers<void> & { revision: number };

/**
 * Makes recorded writes durable by as few syncs as possible: writes that are recorded while a sync runs share the next one.
 *
 * After a failed sync, it is unknown which writes are on disk, and another sync may succeed although it wrote nothing: Linux reports a
 * failed write of a page only once. So all later writes are refused.
 */
export class GroupSync {
  readonly #options: GroupSyncOptions;
  #running: Round | undefined;
  /** Begins when the running round has ended. Undefined if no write waits for it. */
  #waiting: Round | undefined;
  #failure: PodwrightError | undefined;

  constructor(options: GroupSyncOptions) {
    this.#options = options;
  }

  /** Throws the error of an earlier sync. Must be called before a write is recorded. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /**
   * Must be called after each write, with the revision that it led to. `isRecorded`: the write was recorded and must survive. Other writes
   * become visible in their order, but cause no sync.
   */
  written(revision: number, isRecorded: boolean): void {
    const { sync, durable } = this.#options;
    const last = this.#waiting ?? this.#running;
    if (isRecorded && sync !== undefined) this.#add(revision);
    else if (last === undefined) durable(revision);
    else last.revision = revision;
  }

  /** Resolves once the writes so far are durable; undefined if they are. Rejects if their sync fails. */
  until(): Promise<void> | undefined {
    return (this.#waiting ?? this.#running)?.promise;
  }

  #add(revision: number): void {
    if (this.#running === undefined) return this.#begin(newRound(revision));
    this.#waiting ??= newRound(revision);
    this.#waiting.revision = revision;
  }

  #begin(round: Round): void {
    this.#running = round;
    this.#options.sync!().then(
      () => this.#ended(round),
      (error: unknown) => this.#failed(error),
    );
  }

  #ended(round: Round): void {
    this.#running = undefined;
    const next = this.#waiting;
    this.#waiting = undefined;
    if (next !== undefined) this.#begin(next);
    this.#options.durable(round.revision);
    round.resolve();
  }

  /** The writes stay visible, as they may be on disk. */
  #failed(error: unknown): void {
    const rounds = [this.#running, this.#waiting].filter((round) => round !== undefined);
    this.#running = undefined;
    this.#waiting = undefined;
    const failure = error instanceof PodwrightError ? error : wrapError('sync the objects', error, 'unavailable');
    this.#failure = failure;
    this.#options.onFailed?.(failure);
    this.#options.durable(rounds.at(-1)!.revision);
    for (const round of rounds) round.reject(failure);
  }
}

function newRound(revision: number): Round {
  const round = { ...Promise.withResolvers<void>(), revision };
  ignoreFailure(round.promise, 'the process does not wait for its own writes');
  return round;
}
