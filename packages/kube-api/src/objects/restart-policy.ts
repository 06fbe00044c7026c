/** Decides whether an exited container is restarted. A container's own rules and policy override the pod's policy. Pure. */
import type { Container, ContainerRestartRule } from './container.ts';
import type { Pod } from './pod.ts';

/** Returns the container's first rule matching the exit code. */
export function matchingRule(
  { restartPolicyRules = [] }: Container,
  exitCode: number,
): ContainerRestartRule | undefined {
  return restartPolicyRules.find(({ exitCodes: { operator, values = [] } }) =>
    operator === 'In' ? values.includes(exitCode) : !values.includes(exitCode),
  );
}

/** Whether a container that exited with this code is restarted. */
export function restartsAfter(pod: Pod, container: Container, exitCode: number): boolean {
  if (container.restartPolicy !== undefined && matchingRule(container, exitCode) !== undefined) return true;
  const policy = container.restartPolicy ?? pod.spec.restartPolicy ?? 'Always';
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);
}

/** Whether an init container has failed. An OOM-killed one has failed regardless of its exit code. */
export function hasFailedToPrepare({ exitCode, reason }: { exitCode: number; reason?: string }): boolean {
  return exitCode !== 0 || reason === 'OOMKilled';
}

/** Whether a killed container is restarted. Its exit code is ignored because it is merely the result of being killed. */
export function restartsWhenKilled(pod: Pod, container: Container): boolean {
  return (container.restartPolicy ?? pod.spec.restartPolicy) !== 'Never';
}

/** Whether the whole pod is restarted if the container exits with this code. */
export function restartsAllContainers(container: Container, exitCode: number): boolean {
  return matchingRule(container, exitCode)?.action === 'RestartAllContainers';
}

/** Whether the exit of any container could restart the whole pod. */
export function couldRestartAllContainers({ containers, initContainers = [] }: Pod['spec']): boolean {
  return [...initContainers, ...containers].some(({ restartPolicyRules = [] }) =>
    restartPolicyRules.some(({ action }) => action === 'RestartAllContainers'),
  );
}
