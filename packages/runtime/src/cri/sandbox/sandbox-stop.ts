import { givenId, type RuntimeHandlers } from '@podwright/cri';
import type { CriServices } from '../services/services.ts';

/** StopPodSandbox: kills what runs, gives addresses and namespaces back. A success for what is not there. */
export function sandboxStop({ sandboxes }: Pick<CriServices, 'sandboxes'>): RuntimeHandlers['stopPodSandbox'] {
  return async ({ podSandboxId }, { signal }) => {
    await sandboxes.stop(givenId('stop sandbox', podSandboxId), signal);
    return {};
  };
}
