import type { RecordedCall } from '../recording/read-recording.ts';

/** Methods whose recorded calls are optional: the clock does not wait for the client to make them. */
const OPTIONAL: ReadonlySet<string> = new Set([
  'UpdateContainerResources',
  'UpdatePodSandboxResources',
  'ReopenContainerLog',
  'CheckpointContainer',
]);
/** Methods whose recorded calls are skipped if the client makes a later one first. */
const PASSABLE = /^(?:Stop|Remove|Update|Reopen|Checkpoint)/;

/**
 * The clock of a pod or image during a replay, which shows recording time. It runs at normal speed, but stops at each recorded call that
 * changes the pod or image until the client makes that call, and then resumes from the time at which the recorded call ended.
 */
export class Timeline {
  /** Recorded calls that changed the pod or image and that the client has not made yet, oldest first. */
  #changes: RecordedCall[];
  #recordedMs: number;
  #realMs: number;
  /** Real times by recorded time, in nanoseconds. Stored because a timestamp that a client has seen must not change. */
  readonly #times = new Map<bigint, bigint>();

  constructor(changes: RecordedCall[], { recordedMs, realMs }: { recordedMs: number; realMs: number }) {
    this.#changes = changes.toSorted((a, b) => a.atMs - b.atMs);
    this.#recordedMs = recordedMs;
    this.#realMs = realMs;
  }

  /** Converts the real time `nowMs` to recording time, both in ms since the epoch. */
  at(nowMs: number): number {
    const next = this.#changes.find(({ method }) => !OPTIONAL.has(method.name));
    const passed = this.#recordedMs + Math.max(0, nowMs - this.#realMs);
    return next === undefined ? passed : Math.max(this.#recordedMs, Math.min(passed, next.atMs));
  }

  /**
   * Returns the first recorded call that the client has not made yet and for which `matches` returns true. The caller must call `finish`
   * when the replayed call ends.
   */
  take(matches: (change: RecordedCall) => boolean): RecordedCall | undefined {
    const taken = this.#changes.find(matches);
    if (taken === undefined) return undefined;
    this.#changes = this.#changes.filter(
      (change) => change !== taken && (change.atMs > taken.atMs || !PASSABLE.test(change.method.name)),
    );
    return taken;
  }

  /** Advances the clock to the time at which a recorded call ended. */
  finish(change: RecordedCall, nowMs: number): void {
    this.#recordedMs = Math.max(this.at(nowMs), change.endMs);
    this.#realMs = nowMs;
  }

  /** Converts a recorded time to real time, both in nanoseconds since the epoch. 0 (unset) stays 0. */
  realNs(recordedNs: bigint): bigint {
    if (recordedNs === 0n) return 0n;
    const known = this.#times.get(recordedNs);
    if (known !== undefined) return known;
    const real = recordedNs + BigInt(Math.round((this.#realMs - this.#recordedMs) * 1e6));
    this.#times.set(recordedNs, real);
    return real;
  }
}
