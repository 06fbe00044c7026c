import type { Probe } from '@podwright/kube-api';
import { EAGER_PROBE_INITIAL_MS } from './limits.ts';
import type { Alarm, ProbeClock } from './probe-clock.ts';
import type { ProbeKind, ProbeResult } from './probe-results.ts';
import { type ProbeTicks, tickAfter, tickFrom } from './probe-ticks.ts';
import { ThresholdCounter } from './threshold-counter.ts';

/** A running container, for the worker of one of its probes. */
export type ProbedContainer = {
  id: string;
  /** Began while this kubelet ran: somebody waits for it to become ready. */
  isNew: boolean;
  /** Its startup probe has not succeeded yet, so no other one is made. */
  isGated: boolean;
  /** When its initial delay is over, monotonic. */
  probedFromMs: number;
};

/** What a worker asks of the manager. */
export type WorkerOptions = {
  kind: ProbeKind;
  /** The probe as the pod has it now, with defaults. */
  probe: () => Required<Pick<Probe, 'periodSeconds' | 'successThreshold' | 'failureThreshold'>>;
  /**
   * Makes the probe once. `quiet` if its failure does not count and is not to be told. `undefined` if it could not be made.
   * Never rejects.
   */
  attempt: (id: string, how: { quiet: boolean; signal: AbortSignal }) => Promise<'success' | 'failure' | undefined>;
  result: (id: string) => ProbeResult | undefined;
  onResult: (id: string, result: ProbeResult) => void;
  /** The first tick, monotonic. */
  anchorMs: number;
  clock: ProbeClock;
};

/** The container that is being probed, until another one takes its place. */
type Probing = {
  container: ProbedContainer;
  counter: ThresholdCounter;
  stop: AbortController;
  /** The first tick of the container: it is served late rather than not, if an early look takes longer. */
  firstTickMs: number | undefined;
  /** The tick that was served last; `undefined` until one was. */
  servedMs: number | undefined;
  /** The time until the next early look; `undefined` if no more are made. */
  eagerMs: number | undefined;
};

/**
 * `idle`: no container runs, or it is gated, or on hold: a liveness probe that failed and a startup probe with a result are not
 * made again until the container has a successor. `waiting`: for a tick or an early look. `busy`: a probe is being made.
 */
type State = { kind: 'idle' } | { kind: 'waiting'; alarm: Alarm } | { kind: 'busy' };

const IDLE: State = { kind: 'idle' };

/**
 * Probes the containers that one container of a pod's specification has, one after the other, in one way. Ticks come from the time
 * at which the pod was first seen, as upstream's do.
 *
 * Readiness and startup probes look more often until the first tick after the container's start, so that it counts as ready as soon
 * as it is. Of these early looks only successes count.
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

  /** The id of the container that is being probed. */
  get containerId(): string | undefined {
    return this.#probing?.container.id;
  }

  /** The container as it is now; `undefined` while none runs. */
  observe(container: ProbedContainer | undefined, nowMs: number): void {
    if (this.#stopped) return;
    if (container?.id !== this.#probing?.container.id) {
      this.#leave();
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

  #leave(): void {
    this.#probing?.stop.abort();
    this.#probing = undefined;
    this.#rest();
  }

  #rest(): void {
    if (this.#state.kind === 'waiting') this.#options.clock.takeBack(this.#state.alarm);
    this.#state = IDLE;
  }

  #isOnHold({ container }: Probing): boolean {
    return isFinal(this.#options.kind, this.#options.result(container.id));
  }

  /** As upstream does, a container that is not ready is looked at whenever its pod is, and its ticks come from then on. */
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
    const lookMs = eagerMs === undefined ? Number.POSITIVE_INFINITY : Math.max(nowMs + eagerMs, container.probedFromMs);
    const dueMs = Math.min(tickMs, lookMs);
    if (dueMs <= nowMs) return void this.#run(probing, tickMs <= nowMs ? tickMs : undefined);
    const onTime = () => void this.#run(probing, tickMs <= lookMs ? tickMs : undefined);
    this.#state = { kind: 'waiting', alarm: this.#options.clock.set(dueMs, onTime) };
  }

  /** Makes the probe of a tick, or takes an early look, and sets the time for the next one. */
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
    if (tickMs === undefined) this.#noteLook(probing, { verdict, startedMs });
    if (verdict === 'success' || (verdict === 'failure' && tickMs !== undefined)) this.#count(probing, verdict);
    if (stop.signal.aborted) return; // who heard of the result may have ended this
    this.#state = IDLE;
    if (!container.isGated && !this.#isOnHold(probing)) this.#schedule(probing, performance.now());
  }

  /** After an early look that succeeded, ticks come from it on; else the next look takes twice as long to come. */
  #noteLook(probing: Probing, { verdict, startedMs }: { verdict: string | undefined; startedMs: number }): void {
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
