import { PodwrightError } from '@podwright/base';
import type { RuntimeHandlers } from '@podwright/cri';
import { containerConfig } from './container-config.ts';
import type { CriServices } from './services.ts';

/** CreateContainer: everything but the process, which StartContainer makes. */
export function containerCreate({
  containers,
  sandboxes,
}: Pick<CriServices, 'containers' | 'sandboxes'>): RuntimeHandlers['createContainer'] {
  return async ({ podSandboxId, config }, { signal }) => {
    const sandbox = sandboxes.require(podSandboxId);
    const wanted = containerConfig(config);
    if (wanted.security.privileged && !sandbox.config.privileged) {
      throw new PodwrightError(
        'invalid_argument',
        `create container ${wanted.name}: it is privileged, but its sandbox ${sandbox.id} was not asked to allow that`,
      );
    }
    const record = await containers.create(sandbox.id, wanted, signal);
    return { containerId: record.id };
  };
}
