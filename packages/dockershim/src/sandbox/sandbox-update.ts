import { PodwrightError } from '@podwright/base';
import type { RuntimeHandlers } from '@podwright/cri';
import { findSandbox } from './found-sandbox.ts';
import type { SandboxDependencies } from './sandbox-dependencies.ts';

/**
 * UpdatePodSandboxResources: only checks that the sandbox exists, because the kubelet updates the pod's cgroup itself, and updates the
 * containers with separate calls. Throws `not_found` if it does not exist.
 */
export function sandboxUpdate(dependencies: SandboxDependencies): RuntimeHandlers['updatePodSandboxResources'] {
  return async ({ podSandboxId }, { signal }) => {
    const { container } = await findSandbox(dependencies, podSandboxId, signal);
    if (container === undefined) throw new PodwrightError('not_found', `sandbox "${podSandboxId}" is not there`);
    return {};
  };
}
