import { PodwrightError } from '@podwright/base';
import type { RuntimeHandlers } from '@podwright/cri';
import { sandboxConfig } from '../messages/sandbox-config.ts';
import type { CriServices } from '../services/services.ts';

/** RunPodSandbox: makes the sandbox, or finds the one that an earlier call with the same metadata made. */
export function sandboxRun({
  sandboxes,
  facts,
}: Pick<CriServices, 'sandboxes' | 'facts'>): RuntimeHandlers['runPodSandbox'] {
  return async ({ config, runtimeHandler }, { signal }) => {
    const wanted = sandboxConfig(config, runtimeHandler);
    if (wanted.userNamespace !== undefined && !facts.userNamespaceHandlers.has(runtimeHandler)) {
      throw new PodwrightError(
        'failed_precondition',
        `run pod ${wanted.podName} in a user namespace: runtime handler "${runtimeHandler}" cannot do that on this host`,
      );
    }
    const record = await sandboxes.run(wanted, signal);
    return { podSandboxId: record.id };
  };
}
