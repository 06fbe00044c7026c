import { Limiter } from '@podwright/base';
import { measureTree } from './measure-tree.ts';
import type { TreeMeasure } from './tree-count.ts';
import { WalkPace } from './walk-pace.ts';

/**
 * A measurement stays valid for 20 times as long as it took, a partial one for twice as long, but at least `MIN_VALIDITY_MS` and at most
 * `MAX_VALIDITY_MS`.
 */
const VALIDITY_FACTOR = 20;
const PARTIAL_VALIDITY_FACTOR = 2;
const MIN_VALIDITY_MS = 500;
const MAX_VALIDITY_MS = 10_000;
/** How long a measurement stays valid if the directory tree is no longer written to. Older measurements of any tree are dropped. */
const LIFETIME_MS = 600_000;
/** How long a call waits for its measurement if several others have already taken longer than `waitMs`. */
const SHORT_WAIT_MS = 200;
const MAX_WAIT_MS = 10_000;
const MANY_SLOW = 4;
/** Maximum number of walks that are in their first `STARTING_MS`. Longer walks continue, but no longer count toward this limit. */
const MAX_STARTING = 8;
const STARTING_MS = 250;
/**
 * How far a ctime can lag behind the wall clock. In a tree whose processes are frozen, any change with a ctime older than this at the start
 * of the walk was made before the walk. At least the granularity of the kernel's file timestamps, and less than the time that
 * `freezeCgroup` waits.
 */
const FROZEN_CHANGE_MS = 10;
/** Maximum duration of the walk of a frozen tree. */
const FROZEN_MS = 1500;
/** A measurement older than this is returned marked as partial, because the directory tree might have grown since. */
const MAX_AGE_MS = 30_000;

export type TreeMeasuresOptions = {
  /** Average share of a CPU core that all slow walks together may use. */
  cpuShare: number;
  /** CPU time that slow walks may use at full speed after an idle period. */
  burstMs?: number;
  /** How long a call waits for its measurement. Default: 2 s. */
  waitMs?: number;
  /** Maximum duration of a walk, after which its result is partial. Default: 60 s. */
  timeoutMs?: number;
};

export type TimedMeasure = TreeMeasure & { atMs: number };

type Walk = { startedAtMs: number; measure: Promise<TimedMeasure>; soFar: () => TreeMeasure | undefined };
type Known = TimedMeasure & { validUntilMs: number };

/**
 * Measures directory trees in the background, so that the owner of one tree cannot delay the measurement of others. Concurrent calls for
 * the same tree share a measurement, and later calls reuse it while it is valid.
 */
export class TreeMeasures {
  readonly #known = new Map<string, Known>();
  readonly #walks = new Map<string, Walk>();
  readonly #starting = new Limiter(MAX_STARTING, STARTING_MS);
  readonly #pace: WalkPace;
  readonly #waitMs: number;
  readonly #timeoutMs: number;

  constructor({ cpuShare, burstMs = 3000, waitMs = 2000, timeoutMs = 60_000 }: TreeMeasuresOptions) {
    this.#pace = new WalkPace({ cpuShare, burstMs });
    this.#waitMs = waitMs;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Returns the size of a directory tree within `waitMs`. If the walk takes longer, it continues in the background, and this call returns
   * the last measurement or, if that is larger, the walk's count so far, marked as partial. A last measurement older than 30 seconds is
   * also marked as partial. `isFinal` means that no process writes to the tree anymore. `isFrozen` means that all processes that may write
   * to the tree are briefly frozen: earlier measurements are not used, and the new one is partial if it takes longer than 1.5 s or the tree
   * changes nevertheless. Throws if `directory` does not exist.
   */
  async of(directory: string, { isFinal = false, isFrozen = false } = {}): Promise<TimedMeasure> {
    const known = this.#known.get(directory);
    const nowMs = Date.now();
    if (!isFrozen && known !== undefined && nowMs >= known.atMs && nowMs < known.validUntilMs) return known;
    if (isFrozen) return await this.#measureFrozen(directory);
    const walk = this.#walks.get(directory) ?? this.#start(directory, isFinal);
    const late = Promise.withResolvers<undefined>();
    const leftMs = walk.startedAtMs + this.#patienceMs() - performance.now();
    const timer = setTimeout(late.resolve, Math.min(MAX_WAIT_MS, Math.max(0, leftMs)), undefined);
    try {
      const measure = await Promise.race([walk.measure, late.promise]);
      return measure ?? newest(this.#known.get(directory), walk.soFar());
    } finally {
      clearTimeout(timer);
    }
  }

  #patienceMs(): number {
    const slow = [...this.#walks.values()].filter(({ startedAtMs }) => performance.now() - startedAtMs >= this.#waitMs);
    return slow.length < MANY_SLOW ? this.#waitMs : Math.min(this.#waitMs, SHORT_WAIT_MS);
  }

  /** Measures the tree immediately and at full speed, because the frozen processes are waiting for it. */
  async #measureFrozen(directory: string): Promise<TimedMeasure> {
    const startedAtMs = Date.now();
    const { signal } = new AbortController();
    const options = { signal, timeoutMs: FROZEN_MS, changedSinceMs: startedAtMs - FROZEN_CHANGE_MS };
    const measure = { ...(await measureTree(directory, options)), atMs: Date.now() };
    measure.isPartial ||= measure.changes !== 'none';
    if (!measure.isPartial) this.#note(directory, measure, validityMs(measure, startedAtMs));
    return measure;
  }

  #start(directory: string, isFinal: boolean): Walk {
    let count: () => TreeMeasure | undefined = () => undefined;
    const pace = this.#pace.begin();
    const onYield = (countSoFar: () => TreeMeasure) => {
      count = countSoFar;
      return pace.rest();
    };
    const options = { signal: new AbortController().signal, timeoutMs: this.#timeoutMs, onYield };
    const walk = async () => {
      const startedAtMs = Date.now();
      const measure = { ...(await measureTree(directory, options)), atMs: Date.now() };
      this.#note(directory, measure, isFinal && !measure.isPartial ? LIFETIME_MS : validityMs(measure, startedAtMs));
      return measure;
    };
    const measure = this.#starting.run(walk).finally(() => {
      pace.end();
      this.#walks.delete(directory);
    });
    measure.catch(() => undefined); // by the time of a failure, no call may be waiting
    const started = { startedAtMs: performance.now(), measure, soFar: () => count() };
    this.#walks.set(directory, started);
    return started;
  }

  #note(directory: string, measure: TimedMeasure, validForMs: number): void {
    const { atMs } = measure;
    for (const [old, one] of this.#known) if (atMs - one.atMs > LIFETIME_MS) this.#known.delete(old);
    this.#known.set(directory, { ...measure, validUntilMs: atMs + validForMs });
  }
}

function validityMs({ atMs, isPartial }: TimedMeasure, startedAtMs: number): number {
  const factor = isPartial ? PARTIAL_VALIDITY_FACTOR : VALIDITY_FACTOR;
  return Math.min(MAX_VALIDITY_MS, Math.max(MIN_VALIDITY_MS, (atMs - startedAtMs) * factor));
}

function newest(known: TimedMeasure | undefined, soFar: TreeMeasure | undefined): TimedMeasure {
  const counted = soFar ?? {
    usage: { sizeBytes: 0, inodes: 0 },
    names: 0,
    contentBytes: 0,
    changes: 'none' as const,
    changedAtMs: 0,
  };
  if (known !== undefined && known.usage.sizeBytes >= counted.usage.sizeBytes)
    return { ...known, isPartial: known.isPartial || Date.now() - known.atMs > MAX_AGE_MS };
  return { ...counted, isPartial: true, atMs: Date.now() };
}
