import type { RecordedCall } from '../recording/read-recording.ts';

/** Changes that a client may leave out: the clock does not wait for them. */
const OPTIONAL: ReadonlySet<string> = new Set([
  'UpdateContainerResources',
  'UpdatePodSandboxResources',
  'ReopenContainerLog',
  'CheckpointContainer',
]);
/** Changes that a later one makes superfluous. */
const PASSABLE = /^(?:Stop|Remove|Update|Reopen|Checkpoint)/;

/**
 * The recorded time of one pod or image during a replay. It passes as fast as real time, but waits at each recorded change until the client
 * requests it, and goes on from the end of the change.
 */
export class Timeline {
  /** Recorded changes that have not been requested yet, in order. */
  #changes: RecordedCall[];
  #recordedMs: number;
  #realMs: number;
  /** Real times in ns by recorded ones; a time must not move once a client knows it. */
  readonly #times = new Map<bigint, bigint>();

  constructor(changes: RecordedCall[], { recordedMs, realMs }: { recordedMs: number; realMs: number }) {
    this.#changes = changes.toSorted((a, b) => a.atMs - b.atMs);
    this.#recordedMs = recordedMs;
    this.#realMs = realMs;
  }

  /** The recorded time at the real time `nowMs`. */
  at(nowMs: number): number {
    const next = this.#changes.find(({ method }) => !OPTIONAL.has(method.name));
    const passed = this.#recordedMs + Math.max(0, nowMs - this.#realMs);
    return next === undefined ? passed : Math.max(this.#recordedMs, Math.min(passed, next.atMs));
  }

  /** Takes the first recorded change that has not been requested and that `matches`. `finish` must be called when it is done. */
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

  /** The real time of a recorded one, both in ns since 1970; 0 stays 0. */
  realNs(recordedNs: bigint): bigint {
    if (recordedNs === 0n) return 0n;
    const known = this.#times.get(recordedNs);
    if (known !== undefined) return known;
    const real = recordedNs + BigInt(Math.round((this.#realMs - this.#recordedMs) * 1e6));
    this.#times.set(recordedNs, real);
    return real;
  }
}
