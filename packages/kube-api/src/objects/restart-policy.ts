/** When a container that ended is started again, by its own policy and rules before the pod's. Pure. */
import type { Container, ContainerRestartRule } from './container.ts';
import type { Pod } from './pod.ts';

/** The first rule of the container that matches an exit code. */
export function matchingRule(
  { restartPolicyRules = [] }: Container,
  exitCode: number,
): ContainerRestartRule | undefined {
  return restartPolicyRules.find(({ exitCodes: { operator, values = [] } }) =>
    operator === 'In' ? values.includes(exitCode) : !values.includes(exitCode),
  );
}

/** Whether a container that exited with this code is started again. */
export function restartsAfter(pod: Pod, container: Container, exitCode: number): boolean {
  if (container.restartPolicy !== undefined && matchingRule(container, exitCode) !== undefined) return true;
  const policy = container.restartPolicy ?? pod.spec.restartPolicy ?? 'Always';
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);
}

/** Whether an init container that ended so has failed: one that lost a process for want of memory has, whatever its exit code. */
export function hasFailedToPrepare({ exitCode, reason }: { exitCode: number; reason?: string }): boolean {
  return exitCode !== 0 || reason === 'OOMKilled';
}

/** Whether a container that is killed, so that its exit code says nothing, is started again. */
export function restartsWhenKilled(pod: Pod, container: Container): boolean {
  return (container.restartPolicy ?? pod.spec.restartPolicy) !== 'Never';
}

/** Whether an exit of the container with this code begins the whole pod anew. */
export function restartsAllContainers(container: Container, exitCode: number): boolean {
  return matchingRule(container, exitCode)?.action === 'RestartAllContainers';
}

/** Whether some exit of a container can begin the whole pod anew. */
export function couldRestartAllContainers({ containers, initContainers = [] }: Pod['spec']): boolean {
  return [...initContainers, ...containers].some(({ restartPolicyRules = [] }) =>
    restartPolicyRules.some(({ action }) => action === 'RestartAllContainers'),
  );
}
