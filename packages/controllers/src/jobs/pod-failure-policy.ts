/** Pod failure policies of Jobs (upstream's pkg/controller/job/pod_failure_policy.go). */
import type { ContainerStatus, Pod, PodStatus } from '@podwright/kube-api';
import type { ExitCodeRequirement, PodFailureAction, PodFailurePolicy, PodFailureRule } from '../objects/job.ts';

export type PodFailureMatch = {
  /** The action of the first matching rule; absent if no rule matches. */
  action?: PodFailureAction;
  /** Whether the pod's failure counts towards the backoff limits. */
  counts: boolean;
  /** Why the Job fails, if the action is `FailJob`. */
  jobFailure?: string;
};

/** Evaluates the policy for a failed pod. */
export function matchPodFailurePolicy(policy: PodFailurePolicy | undefined, pod: Pod): PodFailureMatch {
  for (const [index, rule] of (policy?.rules ?? []).entries()) {
    const cause = causeOf(rule, pod);
    if (cause === undefined) continue;
    const { action } = rule;
    const jobFailure = `${cause} matching ${action} rule at index ${index}`;
    return { action, counts: action !== 'Ignore', ...(action === 'FailJob' ? { jobFailure } : {}) };
  }
  return { counts: true };
}

/**
 * Returns why a rule matches a pod (a container's exit code or a pod condition), in upstream's wording; `undefined` if it does not match.
 */
function causeOf({ onExitCodes, onPodConditions }: PodFailureRule, { metadata, status }: Pod): string | undefined {
  const place = `${metadata.namespace}/${metadata.name}`;
  if (onExitCodes !== undefined) {
    const container = failedContainer(status, onExitCodes);
    if (container === undefined) return undefined;
    return `Container ${container.name} for pod ${place} failed with exit code ${container.state.terminated?.exitCode}`;
  }
  const condition = status?.conditions?.find((one) =>
    onPodConditions?.some((pattern) => pattern.type === one.type && pattern.status === one.status),
  );
  return condition === undefined ? undefined : `Pod ${place} has condition ${condition.type}`;
}

/** Returns the first container with a matching exit code. Exit code 0 never matches. */
function failedContainer(
  { containerStatuses = [], initContainerStatuses = [] }: Partial<PodStatus> = {},
  { containerName, operator, values }: ExitCodeRequirement,
): ContainerStatus | undefined {
  return [...containerStatuses, ...initContainerStatuses].find(({ name, state: { terminated } }) => {
    if (terminated === undefined || terminated.exitCode === 0) return false;
    if (containerName !== undefined && containerName !== name) return false;
    return values.includes(terminated.exitCode) === (operator === 'In');
  });
}
