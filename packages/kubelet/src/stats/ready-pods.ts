import type { RuntimePodStatus, RuntimeSandbox } from '../kubecontainer/runtime-pod.ts';

/** A pod that has a ready sandbox; `sandbox` is the newest one. */
export type ReadyPod = { runtime: RuntimePodStatus; sandbox: RuntimeSandbox };

/** Returns the pods that have a ready sandbox. Pure. */
export function readyPods(pods: readonly RuntimePodStatus[]): ReadyPod[] {
  return pods.flatMap((runtime) => {
    const sandbox = runtime.sandboxes.find(({ ready }) => ready);
    return sandbox === undefined ? [] : [{ runtime, sandbox }];
  });
}
