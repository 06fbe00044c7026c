import { isNotFound } from '@podwright/base';
import { removeTree } from '@podwright/host';
import type { Pod } from '@podwright/kube-api';
import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import type { KuberuntimeDependencies } from './dependencies.ts';
import { podLogDirectory } from './pod-sandbox-config.ts';

/** Dependencies for removing pods from the container runtime. */
export type RemovePodDependencies = Pick<KuberuntimeDependencies, 'cri' | 'podLogsDir' | 'tracer'>;

export type RemovePodRequest = {
  pod: Pod;
  status: RuntimePodStatus;
  /** Whether to retain the log files. True if the pod remains listed after it has finished. */
  keepLogs: boolean;
  /** Releases all of the pod's other resources. Called before its sandboxes are removed. */
  release: () => Promise<void>;
};

/**
 * Removes a stopped pod's containers and logs, calls `release`, then removes its sandboxes. The sandboxes come last, so that a restarted
 * kubelet still finds a pod whose removal was interrupted. Containers and sandboxes that are already gone are not an error.
 */
export async function removePodFromRuntime(
  { cri, podLogsDir, tracer }: RemovePodDependencies,
  { pod, status, keepLogs, release }: RemovePodRequest,
): Promise<void> {
  await tracer.span(pod.metadata.uid, 'remove from runtime', async () => {
    await Promise.all(
      status.containers.map(({ id }) => ignoreNotFound(cri.runtime.removeContainer({ containerId: id }))),
    );
    if (!keepLogs) await removeTree(podLogDirectory(podLogsDir, pod.metadata));
    await release();
    await Promise.all(
      status.sandboxes.map(({ id }) => ignoreNotFound(cri.runtime.removePodSandbox({ podSandboxId: id }))),
    );
  });
}

async function ignoreNotFound(removal: Promise<unknown>): Promise<void> {
  try {
    await removal;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
