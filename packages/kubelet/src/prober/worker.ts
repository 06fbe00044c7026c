import { sleep } from '@podwright/base';
import { EAGER_PROBE_INITIAL_MS } from '../limits.ts';
import type { ProbeKind, ProbeResult } from './probe-results.ts';
import type { Prober, ProbeTarget } from './prober.ts';

export type WorkerOptions = {
  kind: ProbeKind;
  target: () => ProbeTarget;
  /** When the container began, Unix milliseconds. */
  startedAtMs: number;
  prober: Prober;
  onResult: (result: ProbeResult) => void;
  /** Each counted failure, for the event. */
  onFailure: (output: string) => void;
  signal: AbortSignal;
};

/** Counts answers towards the thresholds; pure. A change of the verdict starts the count anew. */
export class ThresholdCounter {
  #last: 'success' | 'failure' | undefined;
  #run = 0;

  /** The result if the thresholds say one now, else nothing. */
  count(verdict: 'success' | 'failure', thresholds: { success: number; failure: number }): ProbeResult | undefined {
    this.#run = verdict === this.#last ? this.#run + 1 : 1;
    this.#last = verdict;
    return this.#run >= thresholds[verdict] ? verdict : undefined;
  }
}

/**
 * Probes one running container in one way until its signal aborts. A liveness or startup probe that failed is done: the
 * container will be killed, and its successor gets a worker of its own. A startup probe that succeeded is done too.
 *
 * Readiness and startup probes look more often than their period says until the first period has passed, so that a
 * container counts as ready as soon as it is; failures of these early looks are not counted.
 */
export async function runProbeWorker(options: WorkerOptions): Promise<void> {
  const { kind, signal, prober } = options;
  const counter = new ThresholdCounter();
  try {
    const { initialDelaySeconds = 0 } = options.target().probe;
    await sleep(initialDelayMs(options.startedAtMs, initialDelaySeconds, Date.now()), signal);
    if (kind !== 'liveness' && (await probeEagerly(options, counter)) === 'done') return;
    for (;;) {
      const { probe } = options.target();
      const answer = await prober.probe(options.target(), signal);
      if (signal.aborted) return;
      if (answer.verdict === 'failure') options.onFailure(answer.output);
      if (answer.verdict !== 'error') {
        const thresholds = { success: probe.successThreshold ?? 1, failure: probe.failureThreshold ?? 3 };
        const result = counter.count(answer.verdict, thresholds);
        if (result !== undefined) options.onResult(result);
        if (isLast(kind, result)) return;
      }
      await sleep((probe.periodSeconds ?? 10) * 1000, signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/**
 * How much of the initial delay is left. A host's clock that was set back since the container began, by whatever, does not
 * lengthen it.
 */
export function initialDelayMs(startedAtMs: number, initialDelaySeconds: number, nowMs: number): number {
  return Math.max(0, initialDelaySeconds * 1000 - Math.max(0, nowMs - startedAtMs));
}

function isLast(kind: ProbeKind, result: ProbeResult | undefined): boolean {
  return (kind === 'startup' && result !== undefined) || (kind === 'liveness' && result === 'failure');
}

async function probeEagerly(
  { kind, target, prober, onResult, signal }: WorkerOptions,
  counter: ThresholdCounter,
): Promise<'done' | 'go on'> {
  const { periodSeconds = 10, successThreshold = 1 } = target().probe;
  const untilMs = performance.now() + periodSeconds * 1000;
  for (let delayMs = EAGER_PROBE_INITIAL_MS; performance.now() < untilMs; delayMs *= 2) {
    const { verdict } = await prober.probe(target(), signal);
    if (verdict === 'success') {
      const result = counter.count('success', { success: successThreshold, failure: 1 });
      if (result !== undefined) onResult(result);
      if (isLast(kind, result)) return 'done';
      await sleep(periodSeconds * 1000, signal);
      return 'go on';
    }
    await sleep(Math.min(delayMs, Math.max(0, untilMs - performance.now())), signal);
  }
  return 'go on';
}
