import type { RuntimeHandlers } from '@podwright/cri';
import type { SandboxDependencies } from './sandbox-dependencies.ts';
import { sandboxList } from './sandbox-list.ts';
import { sandboxRemove } from './sandbox-remove.ts';
import { sandboxRun } from './sandbox-run.ts';
import { sandboxStatus } from './sandbox-status.ts';
import { sandboxStop } from './sandbox-stop.ts';
import { sandboxUpdate } from './sandbox-update.ts';

/** The CRI's sandbox calls. */
export function sandboxHandlers(dependencies: SandboxDependencies) {
  return {
    runPodSandbox: sandboxRun(dependencies),
    stopPodSandbox: sandboxStop(dependencies),
    removePodSandbox: sandboxRemove(dependencies),
    podSandboxStatus: sandboxStatus(dependencies),
    listPodSandbox: sandboxList(dependencies),
    updatePodSandboxResources: sandboxUpdate(dependencies),
  } satisfies Partial<RuntimeHandlers>;
}
