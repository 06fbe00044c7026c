import { givenId, type RuntimeHandlers } from '@podwright/cri';
import type { CriServices } from '../services/services.ts';

/** RemoveContainer: removes the container, killed first if it runs. A success for what is not there. */
export function containerRemove({ containers }: Pick<CriServices, 'containers'>): RuntimeHandlers['removeContainer'] {
  return async ({ containerId }, { signal }) => {
    await containers.remove(givenId('remove container', containerId), signal);
    return {};
  };
}
