import type { Probe } from '@podwright/kube-api';
import { EAGER_PROBE_INITIAL_MS } from './limits.ts';
import type { Alarm, ProbeClock } from './probe-clock.ts';
import type { ProbeKind, ProbeResult } from './probe-results.ts';

/**
 * The schedule of a probe: a run (tick) is due at `anchorMs` and once every period after that, regardless of how long each run takes. Times
 * are monotonic.
 */
export type ProbeTicks = { anchorMs: number; periodMs: number };

/** Returns the time of the first tick at or after `fromMs`. */
export function tickFrom({ anchorMs, periodMs }: ProbeTicks, fromMs: number): number {
  return anchorMs + Math.max(0, Math.ceil((fromMs - anchorMs) / periodMs)) * periodMs;
}

/**
 * Returns the time of the next tick, given the time of the last executed one (`servedMs`). If several ticks have passed since, only the
 * last one is executed: a probe that takes longer than its period is repeated immediately, but missed ticks are not made up for.
 */
export function tickAfter({ periodMs }: ProbeTicks, servedMs: number, nowMs: number): number {
  return servedMs + Math.max(1, Math.floor((nowMs - servedMs) / periodMs)) * periodMs;
}

/** Counts consecutive identical probe results toward the thresholds. A different result resets the count. */
export class ThresholdCounter {
  #last: 'success' | 'failure' | undefined;
  #run = 0;

  /** Counts a probe result. Returns the new state if its threshold is reached, otherwise `undefined`. */
  count(verdict: 'success' | 'failure', thresholds: { success: number; failure: number }): ProbeResult | undefined {
    this.#run = verdict === this.#last ? this.#run + 1 : 1;
    this.#last = verdict;
    return this.#run >= thresholds[verdict] ? verdict : undefined;
  }
}

/** A running container, as seen by the worker of one of its probes. */
export type ProbedContainer = {
  id: string;
  /** Whether the container started while this kubelet was running. Only new containers get early attempts, which make them ready sooner. */
  isNew: boolean;
  /** Whether this probe must wait because the container's startup probe has not succeeded yet. */
  isGated: boolean;
  /** End of the container's initial delay (monotonic). */
  probedFromMs: number;
};

/** Input for a worker, and its callbacks into the prober manager. */
export type WorkerOptions = {
  kind: ProbeKind;
  /** Returns the current probe from the pod's spec, with defaults applied. */
  probe: () => Required<Pick<Probe, 'periodSeconds' | 'successThreshold' | 'failureThreshold'>>;
  /**
   * Executes the probe once; resolves with `undefined` if it could not be executed. If `quiet` is set, a failure does not count and emits
   * no event. Never rejects.
   */
  attempt: (id: string, how: { quiet: boolean; signal: AbortSignal }) => Promise<'success' | 'failure' | undefined>;
  result: (id: string) => ProbeResult | undefined;
  onResult: (id: string, result: ProbeResult) => void;
  /** Time of the first tick (monotonic). */
  anchorMs: number;
  clock: ProbeClock;
};

/** The probing state of one container instance. Dropped when a new instance replaces it. */
type Probing = {
  container: ProbedContainer;
  counter: ThresholdCounter;
  stop: AbortController;
  /** When the container's first periodic probe is due; it starts late if an early attempt is still running. */
  firstTickMs: number | undefined;
  /** The time of the last periodic probe that was started; `undefined` before the first one. */
  servedMs: number | undefined;
  /** Delay before the next early attempt; `undefined` if there is none. */
  eagerMs: number | undefined;
};

/**
 * `idle`: no container is running, or the container is gated or on hold. Liveness probes that failed and startup probes that have a result
 * stay on hold until the container is replaced. `waiting`: the next tick or early attempt is scheduled. `busy`: a probe is running.
 */
type State = { kind: 'idle' } | { kind: 'waiting'; alarm: Alarm } | { kind: 'busy' };

const IDLE: State = { kind: 'idle' };

/**
 * Executes one kind of probe for one container in a pod's spec, across container restarts. As in upstream, ticks are counted from the time
 * the pod was first seen.
 *
 * Until the first tick after a container starts, readiness and startup probes also make early attempts, so that the container becomes ready
 * sooner. Only successful early attempts count.
 */
export class ProbeWorker {
  readonly #options: WorkerOptions;
  #anchorMs: number;
  #probing: Probing | undefined;
  #state: State = IDLE;
  #stopped = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#anchorMs = options.anchorMs;
  }

  get containerId(): string | undefined {
    return this.#probing?.container.id;
  }

  /** Updates the running container; `undefined` if none is running. */
  observe(container: ProbedContainer | undefined, nowMs: number): void {
    if (this.#stopped) return;
    if (container?.id !== this.#probing?.container.id) {
      this.#abandon();
      if (container !== undefined) this.#probing = begin(this.#options.kind, container);
    } else if (container !== undefined) {
      this.#probing!.container.isGated = container.isGated;
    }
    const probing = this.#probing;
    if (probing === undefined || container?.isGated || this.#isOnHold(probing)) return;
    if (this.#state.kind === 'idle') this.#schedule(probing, nowMs);
    else if (this.#shouldHurry(probing)) this.#runNow(probing, nowMs);
  }

  stop(): void {
    this.#stopped = true;
    this.#probing?.stop.abort();
    this.#rest();
  }

  #abandon(): void {
    this.#probing?.stop.abort();
    this.#probing = undefined;
    this.#rest();
  }

  #rest(): void {
    if (this.#state.kind === 'waiting') this.#options.clock.cancel(this.#state.alarm);
    this.#state = IDLE;
  }

  #isOnHold({ container }: Probing): boolean {
    return isFinal(this.#options.kind, this.#options.result(container.id));
  }

  /**
   * Whether to probe immediately: as in upstream, each sync of the pod probes containers that are not ready, and their ticks are counted
   * from then on.
   */
  #shouldHurry({ container, servedMs }: Probing): boolean {
    const waits = this.#state.kind === 'waiting' && servedMs !== undefined;
    return this.#options.kind === 'readiness' && waits && this.#options.result(container.id) !== 'success';
  }

  #runNow(probing: Probing, nowMs: number): void {
    this.#rest();
    this.#anchorMs = nowMs;
    void this.#run(probing, nowMs);
  }

  #ticks(): ProbeTicks {
    return { anchorMs: this.#anchorMs, periodMs: this.#options.probe().periodSeconds * 1000 };
  }

  #schedule(probing: Probing, nowMs: number): void {
    const { servedMs, container, eagerMs } = probing;
    probing.firstTickMs ??= tickFrom(this.#ticks(), Math.max(nowMs, container.probedFromMs));
    const tickMs = servedMs === undefined ? probing.firstTickMs : tickAfter(this.#ticks(), servedMs, nowMs);
    const earlyMs =
      eagerMs === undefined ? Number.POSITIVE_INFINITY : Math.max(nowMs + eagerMs, container.probedFromMs);
    const dueMs = Math.min(tickMs, earlyMs);
    if (dueMs <= nowMs) return void this.#run(probing, tickMs <= nowMs ? tickMs : undefined);
    const onTime = () => void this.#run(probing, tickMs <= earlyMs ? tickMs : undefined);
    this.#state = { kind: 'waiting', alarm: this.#options.clock.set(dueMs, onTime) };
  }

  /** Executes the probe, either for a tick or as an early attempt, and schedules the next run. */
  async #run(probing: Probing, tickMs: number | undefined): Promise<void> {
    this.#state = { kind: 'busy' };
    const { container, stop } = probing;
    const startedMs = performance.now();
    if (tickMs !== undefined) {
      probing.servedMs = tickMs;
      probing.eagerMs = undefined;
    }
    const verdict = await this.#options.attempt(container.id, { quiet: tickMs === undefined, signal: stop.signal });
    if (stop.signal.aborted) return;
    if (tickMs === undefined) this.#noteEarlyAttempt(probing, { verdict, startedMs });
    if (verdict === 'success' || (verdict === 'failure' && tickMs !== undefined)) this.#count(probing, verdict);
    if (stop.signal.aborted) return; // a listener of the result may have stopped the worker
    this.#state = IDLE;
    if (!container.isGated && !this.#isOnHold(probing)) this.#schedule(probing, performance.now());
  }

  /**
   * Records an early attempt. After a success, ticks are counted from the attempt; otherwise, the delay before the next early attempt
   * doubles.
   */
  #noteEarlyAttempt(
    probing: Probing,
    { verdict, startedMs }: { verdict: string | undefined; startedMs: number },
  ): void {
    if (verdict !== 'success') {
      probing.eagerMs = Math.max(EAGER_PROBE_INITIAL_MS, (probing.eagerMs ?? 0) * 2);
      return;
    }
    probing.eagerMs = undefined;
    this.#anchorMs = startedMs;
    probing.servedMs = startedMs;
  }

  #count({ container, counter }: Probing, verdict: 'success' | 'failure'): void {
    const { successThreshold, failureThreshold } = this.#options.probe();
    const result = counter.count(verdict, { success: successThreshold, failure: failureThreshold });
    if (result !== undefined) this.#options.onResult(container.id, result);
  }
}

function begin(kind: ProbeKind, container: ProbedContainer): Probing {
  const eagerMs = kind !== 'liveness' && container.isNew ? 0 : undefined;
  const counter = new ThresholdCounter();
  return { container, counter, stop: new AbortController(), firstTickMs: undefined, servedMs: undefined, eagerMs };
}

function isFinal(kind: ProbeKind, result: ProbeResult | undefined): boolean {
  if (kind === 'startup') return result === 'success' || result === 'failure';
  return kind === 'liveness' && result === 'failure';
}
