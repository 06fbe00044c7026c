import { givenId, type RuntimeHandlers } from '@podwright/cri';
import { isSandboxId } from '../checkpoints/checkpoint-store.ts';
import { removeContainer } from '../engine/remove-container.ts';
import { findSandbox } from './found-sandbox.ts';
import { detach, dropState } from './roll-back.ts';
import type { SandboxDependencies } from './sandbox-dependencies.ts';
import { allOf, containersOf } from './sandbox-stop.ts';

/** RemovePodSandbox: removes the containers, then the sandbox, and finally the checkpoint. Succeeds if the sandbox does not exist. */
export function sandboxRemove(dependencies: SandboxDependencies): RuntimeHandlers['removePodSandbox'] {
  return async ({ podSandboxId }, { signal }) => {
    const { services, checkpoints } = dependencies;
    const found = await findSandbox(dependencies, givenId('remove sandbox', podSandboxId), signal);
    if (!isSandboxId(found.id)) return {};
    const ids = await containersOf(dependencies, found.id, signal);
    await allOf(ids.map((id) => dependencies.removeContainer(id, signal)));
    await services.failpoint('sandbox-remove/containers-removed');
    await detach(dependencies, found, signal);
    await services.failpoint('sandbox-remove/network-down');
    if (found.container !== undefined) await removeContainer(services.engine, found.id, signal);
    await services.failpoint('sandbox-remove/removed');
    await checkpoints.remove(found.id);
    dropState(dependencies, found.id);
    return {};
  };
}
