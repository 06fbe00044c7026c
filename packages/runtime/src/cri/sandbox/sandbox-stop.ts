import { givenId, type RuntimeHandlers } from '@podwright/cri';
import type { CriServices } from '../services/services.ts';

/** StopPodSandbox: kills the sandbox's containers and releases its addresses and namespaces. Succeeds if the sandbox does not exist. */
export function sandboxStop({ sandboxes }: Pick<CriServices, 'sandboxes'>): RuntimeHandlers['stopPodSandbox'] {
  return async ({ podSandboxId }, { signal }) => {
    await sandboxes.stop(givenId('stop sandbox', podSandboxId), signal);
    return {};
  };
}
