import type { StepResult, WaitingReason } from '../kubecontainer/sync-result.ts';

/** Limit for messages of registries, hooks and runtimes in a status: the same as for a termination message. */
const MAX_WAITING_MESSAGE_LENGTH = 4096;

/** Why the last attempt to start each container failed, until it succeeds. */
export class WaitingReasons {
  readonly #pods = new Map<string, Map<string, WaitingReason>>();

  /** Records a sync's results: a failed start is stored, a successful one clears the entry. */
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
