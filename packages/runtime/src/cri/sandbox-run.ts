import type { RuntimeHandlers } from '@podwright/cri';
import { sandboxConfig } from './sandbox-config.ts';
import type { CriServices } from './services.ts';

/** RunPodSandbox: makes the sandbox, or finds the one that an earlier call with the same metadata made. */
export function sandboxRun({ sandboxes }: Pick<CriServices, 'sandboxes'>): RuntimeHandlers['runPodSandbox'] {
  return async ({ config, runtimeHandler }, { signal }) => {
    const record = await sandboxes.run(sandboxConfig(config, runtimeHandler), signal);
    return { podSandboxId: record.id };
  };
}
