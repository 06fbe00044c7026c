/** The steps of a sync that can succeed or fail on their own. */
export type SyncAction =
  | 'KillPodSandbox'
  | 'KillContainer'
  | 'RemoveContainer'
  | 'CreatePodSandbox'
  | 'StartEphemeralContainer'
  | 'StartInitContainer'
  | 'ResizePodInPlace'
  | 'StartContainer';

/** Why a container waits, as its status shows it. The reasons are the kubelet's. */
export type WaitingReason = { reason: string; message: string };

/** Why a pod fails as a whole; `disruption` is the message of its condition DisruptionTarget, for a pod that had to give way. */
export type PodVerdict = WaitingReason & { disruption?: string };

const SHUT_DOWN_MESSAGE = 'Pod was terminated in response to imminent node shutdown.';

/** Of a pod that ended as its host shut down (pkg/kubelet/nodeshutdown). */
export const SHUT_DOWN: PodVerdict = {
  reason: 'Terminated',
  message: SHUT_DOWN_MESSAGE,
  disruption: SHUT_DOWN_MESSAGE,
};

/** Why a pod that came as the host shut down was refused. */
export const REFUSED_AT_SHUTDOWN: WaitingReason = {
  reason: 'NodeShutdown',
  message: 'Pod was rejected as the node is shutting down.',
};

/** Whether a pod's status tells one of the two. */
export function isShutDown(status: { reason?: string; message?: string } | undefined): boolean {
  return [SHUT_DOWN, REFUSED_AT_SHUTDOWN].some(
    ({ reason, message }) => status?.reason === reason && status.message === message,
  );
}

/** How one step ended: `error` is absent if it succeeded. */
export type StepResult = {
  action: SyncAction;
  /** Name of the container, or id of the sandbox; of sandboxes that are stopped, the UID of their pod. */
  target: string;
  error?: WaitingReason;
  /** When the step may be tried again, in Unix milliseconds; absent when any time will do. */
  retryAtMs?: number;
  /** Nothing was begun, so that what the runtime says is as it was. */
  held?: true;
};

export function failedSteps(steps: readonly StepResult[]): StepResult[] {
  return steps.filter((step) => step.error !== undefined);
}

/** What failed, in upstream's words; each failure once. */
export function failureText(steps: readonly StepResult[]): string {
  const texts = failedSteps(steps).map(({ action, target, error }) => {
    const [what, whom, why] = [action, target, error!.message].map((text) => JSON.stringify(text));
    return `failed to ${what} for ${whom} with ${error!.reason}: ${why}`;
  });
  const distinct = [...new Set(texts)];
  return distinct.length > 1 ? `[${distinct.join(', ')}]` : (distinct[0] ?? '');
}

/** Whether something was started or stopped, or may have been, so that what the runtime says has changed. */
export function hasActed(steps: readonly StepResult[]): boolean {
  return steps.some(({ held }) => held !== true);
}
