import { ignoreFailure, PodwrightError, wrapError } from '@podwright/base';

export type GroupSyncOptions = {
  /** Makes all recorded writes durable. Returns undefined if they already are. If unset, recorded writes always are. */
  sync?: () => Promise<void> | undefined;
  /**
   * Called with ascending revisions up to which all writes are durable. Also called after a failed sync, with the revision of the last
   * write: that write might be on disk, so watches must report it.
   */
  durable: (revision: number) => void;
  /** Called once if a sync fails, before `durable`. */
  onFailed?: (error: PodwrightError) => void;
};

/** A sync that makes all writes up to `revision` durable. */
type Round = PromiseWithResolvers<void> & { revision: number };

/**
 * Makes recorded writes durable by group commit: only one sync runs at a time, and all writes recorded while it runs share the next one.
 *
 * After a failed sync, it is unknown which writes are on disk. The next sync could succeed without them, because Linux reports a failed
 * page write only once (fsync(2)). All further writes are therefore rejected.
 */
export class GroupSync {
  readonly #options: GroupSyncOptions;
  #running: Round | undefined;
  /** The next sync, to be started when the running one finishes. Undefined if no writes are waiting for it. */
  #waiting: Round | undefined;
  #failure: PodwrightError | undefined;

  constructor(options: GroupSyncOptions) {
    this.#options = options;
  }

  /** Throws the error of a failed sync. Must be called before recording a write. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /**
   * Must be called after each write, with the store's new revision. `isRecorded`: whether the write was recorded in the journal. Writes to
   * volatile objects are not, and do not cause a sync, but `durable` still reports their revisions in order.
   */
  written(revision: number, isRecorded: boolean): void {
    const { sync, durable } = this.#options;
    const last = this.#waiting ?? this.#running;
    if (isRecorded && sync !== undefined) this.#add(revision);
    else if (last === undefined) durable(revision);
    else last.revision = revision;
  }

  /** Resolves when all previous writes are durable. Returns `undefined` if they already are. Rejects with the error of their sync. */
  until(): Promise<void> | undefined {
    return (this.#waiting ?? this.#running)?.promise;
  }

  #add(revision: number): void {
    if (this.#running === undefined) {
      const synced = this.#options.sync!();
      if (synced === undefined) this.#options.durable(revision);
      else this.#begin(newRound(revision), synced);
      return;
    }
    this.#waiting ??= newRound(revision);
    this.#waiting.revision = revision;
  }

  #begin(round: Round, synced: Promise<void>): void {
    this.#running = round;
    synced.then(
      () => this.#ended(round),
      (error: unknown) => this.#failed(error),
    );
  }

  #ended(round: Round): void {
    this.#running = undefined;
    const next = this.#waiting;
    this.#waiting = undefined;
    if (next !== undefined) this.#begin(next, this.#options.sync!() ?? Promise.resolve());
    this.#options.durable(round.revision);
    round.resolve();
  }

  /** Rejects all further writes. The writes of the failed sync remain visible, because they might be on disk. */
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
