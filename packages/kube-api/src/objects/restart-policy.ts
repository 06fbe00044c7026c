/** Decides whether an exited container is restarted. The container's own rules and policy take precedence over the pod's policy. Pure. */
import type { Container, ContainerRestartRule } from './container.ts';
import type { Pod } from './pod.ts';

/** Returns the container's first rule that matches the exit code. */
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

/** Whether an init container has failed. One that was OOM-killed has failed regardless of its exit code. */
export function hasFailedToPrepare({ exitCode, reason }: { exitCode: number; reason?: string }): boolean {
  return exitCode !== 0 || reason === 'OOMKilled';
}

/** Whether a container that was killed is restarted. Its exit code does not matter, because it results from being killed. */
export function restartsWhenKilled(pod: Pod, container: Container): boolean {
  return (container.restartPolicy ?? pod.spec.restartPolicy) !== 'Never';
}

/** Whether the whole pod is restarted if the container exits with this code. */
export function restartsAllContainers(container: Container, exitCode: number): boolean {
  return matchingRule(container, exitCode)?.action === 'RestartAllContainers';
}

/** Whether there is any container whose exit can restart the whole pod. */
export function couldRestartAllContainers({ containers, initContainers = [] }: Pod['spec']): boolean {
  return [...initContainers, ...containers].some(({ restartPolicyRules = [] }) =>
    restartPolicyRules.some(({ action }) => action === 'RestartAllContainers'),
  );
}
