import type { RuntimeHandlers } from '@podwright/cri';
import type { CriServices } from '../services/services.ts';

/** StartContainer: starts the container's process. If this fails, the container's state becomes exited with the reason StartError. */
export function containerStart({ containers }: Pick<CriServices, 'containers'>): RuntimeHandlers['startContainer'] {
  return async ({ containerId }, { signal }) => {
    await containers.start(containerId, signal);
    return {};
  };
}
