import { givenId, type RuntimeHandlers } from '@podwright/cri';
import type { CriServices } from '../services/services.ts';

/** RemoveContainer: removes the container, killing it first if it is running. Succeeds if the container does not exist. */
export function containerRemove({ containers }: Pick<CriServices, 'containers'>): RuntimeHandlers['removeContainer'] {
  return async ({ containerId }, { signal }) => {
    await containers.remove(givenId('remove container', containerId), signal);
    return {};
  };
}
