import { PodwrightError } from '@podwright/base';
import type { RuntimeHandlers } from '@podwright/cri';
import { findSandbox } from './found-sandbox.ts';
import type { SandboxDependencies } from './sandbox-dependencies.ts';

/**
 * UpdatePodSandboxResources: only checks that the sandbox exists, and throws `not_found` otherwise. The kubelet updates the pod's cgroup
 * itself, and the containers with separate calls.
 */
export function sandboxUpdate(dependencies: SandboxDependencies): RuntimeHandlers['updatePodSandboxResources'] {
  return async ({ podSandboxId }, { signal }) => {
    const { container } = await findSandbox(dependencies, podSandboxId, signal);
    if (container === undefined) throw new PodwrightError('not_found', `sandbox "${podSandboxId}" is not there`);
    return {};
  };
}
