import { givenId, type RuntimeHandlers } from '@podwright/cri';
import type { CriServices } from '../services/services.ts';

/** RemovePodSandbox: removes the sandbox and its containers. Succeeds if the sandbox does not exist. */
export function sandboxRemove({ sandboxes }: Pick<CriServices, 'sandboxes'>): RuntimeHandlers['removePodSandbox'] {
  return async ({ podSandboxId }, { signal }) => {
    await sandboxes.remove(givenId('remove sandbox', podSandboxId), signal);
    return {};
  };
}
