import { givenId, type RuntimeHandlers } from '@podwright/cri';
import type { CriServices } from '../services/services.ts';

/** RemoveContainer: removes the container, and kills it first if it is running. Succeeds for an unknown container. */
export function containerRemove({ containers }: Pick<CriServices, 'containers'>): RuntimeHandlers['removeContainer'] {
  return async ({ containerId }, { signal }) => {
    await containers.remove(givenId('remove container', containerId), signal);
    return {};
  };
}
