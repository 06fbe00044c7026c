/** The steps of a pod sync, which succeed or fail independently. */
export type SyncAction =
  | 'KillPodSandbox'
  | 'KillContainer'
  | 'RemoveContainer'
  | 'CreatePodSandbox'
  | 'StartEphemeralContainer'
  | 'StartInitContainer'
  | 'ResizePodInPlace'
  | 'StartContainer';

/** Why a container is waiting, as shown in its status. `reason` has upstream's values. */
export type WaitingReason = { reason: string; message: string };

/**
 * Why a pod fails. `disruption`: message of the DisruptionTarget condition; set for pods that are evicted, preempted or terminated by a
 * node shutdown.
 */
export type PodVerdict = WaitingReason & { disruption?: string };

const SHUT_DOWN_MESSAGE = 'Pod was terminated in response to imminent node shutdown.';

/** Why pods terminated by a node shutdown fail (pkg/kubelet/nodeshutdown). */
export const SHUT_DOWN: PodVerdict = {
  reason: 'Terminated',
  message: SHUT_DOWN_MESSAGE,
  disruption: SHUT_DOWN_MESSAGE,
};

/** Reason for rejecting pods added during a node shutdown. */
export const REFUSED_AT_SHUTDOWN: WaitingReason = {
  reason: 'NodeShutdown',
  message: 'Pod was rejected as the node is shutting down.',
};

/** Whether a pod status results from a node shutdown that either terminated or rejected the pod. */
export function isShutDown(status: { reason?: string; message?: string } | undefined): boolean {
  return [SHUT_DOWN, REFUSED_AT_SHUTDOWN].some(
    ({ reason, message }) => status?.reason === reason && status.message === message,
  );
}

/** The result of one step of a pod sync; `error` is absent on success. */
export type StepResult = {
  action: SyncAction;
  /** The container's name or the sandbox's ID; for KillPodSandbox, the pod's UID. */
  target: string;
  error?: WaitingReason;
  /** Earliest time for the next attempt at the step (Unix milliseconds); absent if there is no need to wait. */
  retryAtMs?: number;
  /** Set if the step stopped before changing anything in the container runtime. */
  held?: true;
};

export function failedSteps(steps: readonly StepResult[]): StepResult[] {
  return steps.filter((step) => step.error !== undefined);
}

/** Joins the distinct errors of failed steps, in upstream's wording. */
export function failureText(steps: readonly StepResult[]): string {
  const texts = failedSteps(steps).map(({ action, target, error }) => {
    const [what, whom, why] = [action, target, error!.message].map((text) => JSON.stringify(text));
    return `failed to ${what} for ${whom} with ${error!.reason}: ${why}`;
  });
  const distinct = [...new Set(texts)];
  return distinct.length > 1 ? `[${distinct.join(', ')}]` : (distinct[0] ?? '');
}

/** Whether any step changed, or may have changed, something in the container runtime. */
export function hasActed(steps: readonly StepResult[]): boolean {
  return steps.some(({ held }) => held !== true);
}
