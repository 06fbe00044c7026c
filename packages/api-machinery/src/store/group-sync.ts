import { ignoreFailure, PodwrightError, wrapError } from '@podwright/base';

export type GroupSyncOptions = {
  /** Makes all recorded writes survive a power failure. Undefined: a recorded write is durable. */
  sync?: () => Promise<void>;
  /**
   * Called with the revision up to which writes are durable, in ascending order. Also called after a failed sync, with the revision of the
   * last write: it may be on disk, so watches report it.
   */
  durable: (revision: number) => void;
  /** Called if a sync fails, once, before `durable`. */
  onFailed?: (error: PodwrightError) => void;
};

/** A sync and the writes up to `revision`, which are durable when it has ended. */
type Round = PromiseWithResolvers<void> & { revision: number };

/**
 * Makes recorded writes durable by group commit: one sync runs at a time, and all writes that are recorded meanwhile share the next one.
 *
 * After a failed sync it is unknown which writes are on disk. The next sync could succeed without them, because Linux reports a failed
 * write of a page only once (fsync(2)). So all later writes are refused.
 */
export class GroupSync {
  readonly #options: GroupSyncOptions;
  #running: Round | undefined;
  /** The next sync, which begins when the running one has ended. Undefined if no write waits for it. */
  #waiting: Round | undefined;
  #failure: PodwrightError | undefined;

  constructor(options: GroupSyncOptions) {
    this.#options = options;
  }

  /** Throws the error of a failed sync. Must be called before each write is recorded. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /**
   * Must be called after each write, with the store's revision after it. `isRecorded`: the write was recorded in the journal. Other writes,
   * of volatile objects, cause no sync, but `durable` counts them in the order of revisions, too.
   */
  written(revision: number, isRecorded: boolean): void {
    const { sync, durable } = this.#options;
    const last = this.#waiting ?? this.#running;
    if (isRecorded && sync !== undefined) this.#add(revision);
    else if (last === undefined) durable(revision);
    else last.revision = revision;
  }

  /** Resolves once all writes so far are durable. Returns undefined if they are. Rejects with the error of their sync. */
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

  /** Refuses all later writes. The writes of the failed sync stay visible, because they may be on disk. */
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
  ignoreFailure(round.promise, 'not every writer waits for the sync');
  return round;
}
