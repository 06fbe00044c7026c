import type { Container, ContainerFilter, PodSandbox, PodSandboxFilter } from '@podwright/cri';
import { matchesLabels } from '@podwright/cri';

/** Whether a sandbox matches a list filter. IDs in the filter may be prefixes. */
export function matchesSandbox(sandbox: PodSandbox, filter: PodSandboxFilter | undefined): boolean {
  if (filter === undefined) return true;
  const { id, state, labelSelector } = filter;
  return (
    sandbox.id.startsWith(id) &&
    (state === undefined || state.state === sandbox.state) &&
    matchesLabels(sandbox.labels, labelSelector)
  );
}

/** Whether a container matches a list filter. IDs in the filter may be prefixes. */
export function matchesContainer(container: Container, filter: ContainerFilter | undefined): boolean {
  if (filter === undefined) return true;
  const { id, podSandboxId, state, labelSelector } = filter;
  return (
    container.id.startsWith(id) &&
    container.podSandboxId.startsWith(podSandboxId) &&
    (state === undefined || state.state === container.state) &&
    matchesLabels(container.labels, labelSelector)
  );
}
