import { rm } from 'node:fs/promises';
import { isNotFound } from '@podwright/base';
import type { Pod } from '../api/types.ts';
import type { KuberuntimeDependencies } from './dependencies.ts';
import { podLogDirectory } from './pod-sandbox-config.ts';
import type { RuntimePodStatus } from './runtime-pod.ts';

/** Removes a stopped pod's containers, sandboxes and logs. What is gone already is no error. */
export async function removePodFromRuntime(
  { cri, podLogsDir, tracer }: Pick<KuberuntimeDependencies, 'cri' | 'podLogsDir' | 'tracer'>,
  { pod, status }: { pod: Pod; status: RuntimePodStatus },
): Promise<void> {
  await tracer.span(pod.metadata.uid, 'remove from runtime', async () => {
    await Promise.all(status.containers.map(({ id }) => gone(cri.runtime.removeContainer({ containerId: id }))));
    await Promise.all(status.sandboxes.map(({ id }) => gone(cri.runtime.removePodSandbox({ podSandboxId: id }))));
  });
  await rm(podLogDirectory(podLogsDir, pod.metadata), { recursive: true, force: true });
}

async function gone(removal: Promise<unknown>): Promise<void> {
  try {
    await removal;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
