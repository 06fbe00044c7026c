import type { StepResult, WaitingReason } from '../kubecontainer/sync-result.ts';

/** Messages of registries, hooks and runtimes in a status: as long as a termination message. */
const MAX_WAITING_MESSAGE_LENGTH = 4096;

/** Why containers could not be started at their last try, until they are. */
export class WaitingReasons {
  readonly #pods = new Map<string, Map<string, WaitingReason>>();

  /** Takes what a sync did: a failed start is remembered, a good one forgotten. */
  record(podUid: string, steps: readonly StepResult[]): void {
    const reasons = this.#pods.get(podUid) ?? new Map<string, WaitingReason>();
    for (const { action, target, error } of steps) {
      if (!action.startsWith('Start')) continue;
      if (error === undefined) reasons.delete(target);
      else reasons.set(target, { ...error, message: error.message.slice(0, MAX_WAITING_MESSAGE_LENGTH) });
    }
    this.#pods.set(podUid, reasons);
  }

  get(podUid: string, containerName: string): WaitingReason | undefined {
    return this.#pods.get(podUid)?.get(containerName);
  }

  forgetPod(podUid: string): void {
    this.#pods.delete(podUid);
  }
}
