import type { RuntimeHandlers } from '@podwright/cri';
import { containerResources } from '../messages/container-resources.ts';
import type { CriServices } from '../services/services.ts';

/**
 * UpdatePodSandboxResources: only records the pod's resources, which a verbose PodSandboxStatus returns. The client has already changed the
 * pod's cgroup, and updates each container in a separate call.
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
