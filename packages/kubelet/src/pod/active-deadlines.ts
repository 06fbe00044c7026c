import type { Pod, PodStatus } from '@podwright/kube-api';

/**
 * Tracks how long pods may remain active (`activeDeadlineSeconds`), using the monotonic clock. The wall clock is used only for the time
 * before this kubelet first saw the pod.
 */
export class ActiveDeadlines {
  /** When each pod became active (monotonic). */
  readonly #beganAtMs = new Map<string, number>();

  /** Returns the remaining active time in milliseconds; `undefined` for a pod without a deadline or without a start time. */
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
