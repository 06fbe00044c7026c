import type { Pod, PodStatus } from '@podwright/kube-api';

/**
 * How long pods may still be active (`activeDeadlineSeconds`), by a clock that nobody sets: the host's counts only for what was before
 * this kubelet saw them.
 */
export class ActiveDeadlines {
  /** When the time of each pod began, monotonic. */
  readonly #beganAtMs = new Map<string, number>();

  /** What is left of the pod's time, in ms; nothing is said of a pod without such a bound, or that has not begun. */
  leftMs({ metadata: { uid }, spec }: Pod, { startTime }: Pick<PodStatus, 'startTime'>): number | undefined {
    if (startTime === undefined) return undefined;
    const nowMs = performance.now();
    const beganAtMs = this.#beganAtMs.get(uid) ?? nowMs - Math.max(0, Date.now() - Date.parse(startTime));
    this.#beganAtMs.set(uid, beganAtMs);
    const seconds = spec.activeDeadlineSeconds;
    return seconds === undefined ? undefined : beganAtMs + seconds * 1000 - nowMs;
  }

  forget(podUid: string): void {
    this.#beganAtMs.delete(podUid);
  }
}
