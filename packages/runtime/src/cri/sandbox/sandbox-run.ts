import { PodwrightError } from '@podwright/base';
import type { RuntimeHandlers } from '@podwright/cri';
import { sandboxConfig } from '../messages/sandbox-config.ts';
import type { CriServices } from '../services/services.ts';

/** RunPodSandbox: creates the sandbox, or returns the one created by an earlier call with the same metadata. */
export function sandboxRun({
  sandboxes,
  facts,
}: Pick<CriServices, 'sandboxes' | 'facts'>): RuntimeHandlers['runPodSandbox'] {
  return async ({ config, runtimeHandler }, { signal }) => {
    const requested = sandboxConfig(config, runtimeHandler);
    if (requested.userNamespace !== undefined && !facts.userNamespaceHandlers.has(runtimeHandler)) {
      throw new PodwrightError(
        'failed_precondition',
        `run pod ${requested.podName} in a user namespace: runtime handler "${runtimeHandler}" does not support that on this host`,
      );
    }
    const record = await sandboxes.run(requested, signal);
    return { podSandboxId: record.id };
  };
}
