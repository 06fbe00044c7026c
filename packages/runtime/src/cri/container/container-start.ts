import type { RuntimeHandlers } from '@podwright/cri';
import type { CriServices } from '../services/services.ts';

/** StartContainer: runs the container's process. A failure ends the container with the reason StartError. */
export function containerStart({ containers }: Pick<CriServices, 'containers'>): RuntimeHandlers['startContainer'] {
  return async ({ containerId }, { signal }) => {
    await containers.start(containerId, signal);
    return {};
  };
}
