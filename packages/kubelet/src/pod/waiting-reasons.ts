import type { StepResult, WaitingReason } from '../kubecontainer/sync-result.ts';

/** Maximum length of a message from a registry, a hook or the container runtime in a pod's status; the same as for termination messages. */
const MAX_WAITING_MESSAGE_LENGTH = 4096;

/** Records the reason why the last attempt to start each container failed. A successful start deletes the container's entry. */
export class WaitingReasons {
  readonly #pods = new Map<string, Map<string, WaitingReason>>();

  /** Records the results of a sync: a failed start is stored, and a successful one clears the container's entry. */
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
