import { givenId, type RuntimeHandlers } from '@podwright/cri';
import type { CriServices } from '../services/services.ts';

/** StopPodSandbox: kills the containers, and releases addresses and namespaces. Succeeds for an unknown sandbox. */
export function sandboxStop({ sandboxes }: Pick<CriServices, 'sandboxes'>): RuntimeHandlers['stopPodSandbox'] {
  return async ({ podSandboxId }, { signal }) => {
    await sandboxes.stop(givenId('stop sandbox', podSandboxId), signal);
    return {};
  };
}
