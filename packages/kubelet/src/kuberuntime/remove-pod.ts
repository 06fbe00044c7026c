import { isNotFound, removeTree } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import type { KuberuntimeDependencies } from './dependencies.ts';
import { podLogDirectory } from './pod-sandbox-config.ts';

/** What removing a pod from the runtime takes. */
export type RemovePodDependencies = Pick<KuberuntimeDependencies, 'cri' | 'podLogsDir' | 'tracer'>;

export type RemovePodRequest = {
  pod: Pod;
  status: RuntimePodStatus;
  /** The pod stays listed as ended, so its log files stay, too. */
  keepLogs: boolean;
  /** Gives back everything else of the pod, before its last trace in the runtime goes. */
  release: () => Promise<void>;
};

/**
 * Removes a stopped pod's containers and logs, then what `release` holds, then its sandboxes. The sandbox is removed last because
 * a restarted kubelet finds a pod by it whose removal was cut short. What is already removed is no error.
 */
export async function removePodFromRuntime(
  { cri, podLogsDir, tracer }: RemovePodDependencies,
  { pod, status, keepLogs, release }: RemovePodRequest,
): Promise<void> {
  await tracer.span(pod.metadata.uid, 'remove from runtime', async () => {
    await Promise.all(status.containers.map(({ id }) => gone(cri.runtime.removeContainer({ containerId: id }))));
    if (!keepLogs) await removeTree(podLogDirectory(podLogsDir, pod.metadata));
    await release();
    await Promise.all(status.sandboxes.map(({ id }) => gone(cri.runtime.removePodSandbox({ podSandboxId: id }))));
  });
}

async function gone(removal: Promise<unknown>): Promise<void> {
  try {
    await removal;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
