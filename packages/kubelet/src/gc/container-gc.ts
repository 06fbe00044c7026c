import { rm } from 'node:fs/promises';
import { errorMessage, type Logger } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import { findGarbage, type GarbagePolicy } from './dead-containers.ts';

/** Removes dead containers over the limits with their logs, and dead sandboxes. What cannot be removed is tried again next time. */
export async function collectContainers(
  { cri, logger, policy }: { cri: CriClient; logger: Logger; policy: GarbagePolicy },
  pods: RuntimePodStatus[],
): Promise<void> {
  const { containers, sandboxIds } = findGarbage(pods, policy);
  const attempt = async (id: string, work: () => Promise<unknown>) => {
    await work().catch((error: unknown) =>
      logger.warn({ id, error: errorMessage(error) }, 'garbage could not be removed'),
    );
  };
  for (const { id, logPath } of containers) {
    await attempt(id, async () => {
      await cri.runtime.removeContainer({ containerId: id });
      if (logPath !== '') await rm(logPath, { force: true });
    });
  }
  for (const podSandboxId of sandboxIds) {
    await attempt(podSandboxId, () => cri.runtime.removePodSandbox({ podSandboxId }));
  }
}
