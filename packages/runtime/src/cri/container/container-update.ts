import type { RuntimeHandlers } from '@podwright/cri';
import { containerResources } from '../messages/container-resources.ts';
import type { CriServices } from '../services/services.ts';

/** UpdateContainerResources: changes a container's limits. Fields that are 0 or empty stay unchanged. */
export function containerUpdate({
  containers,
}: Pick<CriServices, 'containers'>): RuntimeHandlers['updateContainerResources'] {
  return async ({ containerId, linux }, { signal }) => {
    await containers.update(containerId, containerResources(linux), signal);
    return {};
  };
}
