import type { RuntimeHandlers } from '@podwright/cri';
import { containerResources } from '../messages/container-resources.ts';
import type { CriServices } from '../services/services.ts';

/**
 * UpdatePodSandboxResources: notes what the pod may take. The client has changed the pod's cgroup before, and its
 * containers are changed one by one, so nothing else is to be done here; PodSandboxStatus shows it when asked for all.
 */
export function sandboxUpdate({
  sandboxes,
}: Pick<CriServices, 'sandboxes'>): RuntimeHandlers['updatePodSandboxResources'] {
  return async ({ podSandboxId, overhead, resources }, { signal }) => {
    const limits = { overhead: containerResources(overhead), containers: containerResources(resources) };
    await sandboxes.setResources(podSandboxId, limits, signal);
    return {};
  };
}
