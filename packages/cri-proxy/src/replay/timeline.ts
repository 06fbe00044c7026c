import type { RecordedCall } from '../recording/read-recording.ts';

/** Changes that a client need not request: the clock does not wait for them. */
const OPTIONAL: ReadonlySet<string> = new Set([
  'UpdateContainerResources',
  'UpdatePodSandboxResources',
  'ReopenContainerLog',
  'CheckpointContainer',
]);
/** Changes that are skipped if the client requests a later one first. */
const PASSABLE = /^(?:Stop|Remove|Update|Reopen|Checkpoint)/;

/**
 * The clock of one pod or image during a replay, which shows times of the recording. It runs as fast as real time, but stops at each
 * recorded change until the client requests that change, and continues from the end of the change.
 */
export class Timeline {
  /** Recorded changes that have not been requested yet, in order. */
  #changes: RecordedCall[];
  #recordedMs: number;
  #realMs: number;
  /** The real time of each recorded time, in nanoseconds. They are kept because a timestamp that a client has received must not change. */
  readonly #times = new Map<bigint, bigint>();

  constructor(changes: RecordedCall[], { recordedMs, realMs }: { recordedMs: number; realMs: number }) {
    this.#changes = changes.toSorted((a, b) => a.atMs - b.atMs);
    this.#recordedMs = recordedMs;
    this.#realMs = realMs;
  }

  /** Returns the recorded time at the real time `nowMs`, both in milliseconds since 1970. */
  at(nowMs: number): number {
    const next = this.#changes.find(({ method }) => !OPTIONAL.has(method.name));
    const passed = this.#recordedMs + Math.max(0, nowMs - this.#realMs);
    return next === undefined ? passed : Math.max(this.#recordedMs, Math.min(passed, next.atMs));
  }

  /**
   * Returns the first recorded change that `matches` and has not been requested yet. The caller must call `finish` at the end of the
   * change.
   */
  take(matches: (change: RecordedCall) => boolean): RecordedCall | undefined {
    const taken = this.#changes.find(matches);
    if (taken === undefined) return undefined;
    this.#changes = this.#changes.filter(
      (change) => change !== taken && (change.atMs > taken.atMs || !PASSABLE.test(change.method.name)),
    );
    return taken;
  }

  /** Sets the clock to the end of a change. */
  finish(change: RecordedCall, nowMs: number): void {
    this.#recordedMs = Math.max(this.at(nowMs), change.endMs);
    this.#realMs = nowMs;
  }

  /** Converts a recorded time to a real time, both in nanoseconds since 1970. 0 (unset) stays 0. */
  realNs(recordedNs: bigint): bigint {
    if (recordedNs === 0n) return 0n;
    const known = this.#times.get(recordedNs);
    if (known !== undefined) return known;
    const real = recordedNs + BigInt(Math.round((this.#realMs - this.#recordedMs) * 1e6));
    this.#times.set(recordedNs, real);
    return real;
  }
}
