/** The steps of a sync that can succeed or fail on their own. */
export type SyncAction =
  | 'KillPodSandbox'
  | 'KillContainer'
  | 'CreatePodSandbox'
  | 'StartInitContainer'
  | 'StartContainer';

/** Why a container waits, as its status shows it. The reasons are the kubelet's. */
export type WaitingReason = { reason: string; message: string };

/** How one step ended: `error` is absent if it succeeded. */
export type StepResult = {
  action: SyncAction;
  /** Name of the container, or id of the sandbox. */
  target: string;
  error?: WaitingReason;
  /** When the step may be tried again, in Unix milliseconds; absent when any time will do. */
  retryAtMs?: number;
};

/** What a sync did, in order, and what the next one should know. */
export type SyncResult = {
  steps: StepResult[];
  /** True if something was started or stopped, so that what the runtime says has changed. */
  changed: boolean;
};

export function failedSteps(result: SyncResult): StepResult[] {
  return result.steps.filter((step) => step.error !== undefined);
}
