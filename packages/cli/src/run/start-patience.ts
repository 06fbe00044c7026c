import type { Pod } from '@podwright/kube-api';
import { isInTrouble } from './not-ready.ts';
import { containerStatuses, isEnded } from './pod-end.ts';

const LOOK_INTERVAL_MS = 1000;

/** The abort reason if pods have failed to start for too long. */
export class NotStarted extends Error {
  readonly seconds: number;

  constructor(patienceMs: number) {
    super(`no container has started within ${patienceMs / 1000} s`);
    this.seconds = patienceMs / 1000;
  }
}

/**
 * Whether the pod has not started yet and something has failed, although the kubelet keeps retrying. `warned`: there was a warning event.
 */
export function failsToStart(pod: Pod, warned: boolean): boolean {
  const hasStarted = containerStatuses(pod).some(
    ({ state, lastState, restartCount }) =>
      restartCount > 0 || (state.running ?? state.terminated ?? lastState.terminated) !== undefined,
  );
  return !isEnded(pod) && !hasStarted && (warned || isInTrouble(pod));
}

/**
 * Limits how long to wait for pods that fail to start: `signal` aborts with `NotStarted` once `isStuck` has returned true for `patienceMs`
 * without any progress.
 */
export class StartPatience implements Disposable {
  readonly #aborting = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #progressAtMs = Date.now();

  constructor(isStuck: () => boolean, patienceMs: number, intervalMs = LOOK_INTERVAL_MS) {
    this.#timer = setInterval(() => {
      if (!isStuck()) this.progress();
      else if (Date.now() - this.#progressAtMs >= patienceMs) this.#aborting.abort(new NotStarted(patienceMs));
    }, intervalMs).unref();
  }

  get signal(): AbortSignal {
    return this.#aborting.signal;
  }

  /** Resets the timer. Must be called on any progress, such as an image transfer. */
  progress(): void {
    this.#progressAtMs = Date.now();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
