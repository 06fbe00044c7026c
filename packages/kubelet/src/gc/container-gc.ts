import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorMessage, isNotFound, type Logger } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import { namesIn } from '@podwright/host';
import { MINIMUM_GRACE_SECONDS, STOP_MARGIN_MS } from '../kubecontainer/grace-periods.ts';
import type { RuntimeContainer, RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import {
  findGarbage,
  type Garbage,
  type GarbagePolicy,
  garbageOfEnded,
  outdatedContainers,
} from './dead-containers.ts';

/** The input of container garbage collection. `signal` aborts its calls to the container runtime. */
type CollectInput = { cri: CriClient; logger: Logger; policy: GarbagePolicy; signal?: AbortSignal };

/**
 * Removes dead containers that exceed the limits, along with their logs, and dead sandboxes. Failed removals are logged, returned as
 * messages, and retried on the next call.
 */
export function collectContainers(input: CollectInput, pods: RuntimePodStatus[]): Promise<string[]> {
  return removeGarbage(input, findGarbage(pods, input.policy));
}

/** Like `collectContainers`, but also removes all containers and sandboxes of finished pods: upstream's `DeleteAllUnusedContainers`. */
export async function collectUnusedContainers(
  input: CollectInput,
  pods: RuntimePodStatus[],
  hasEnded: (podUid: string) => boolean,
): Promise<string[]> {
  const { true: ended = [], false: others = [] } = Object.groupBy(pods, ({ pod }) => `${hasEnded(pod.uid)}`);
  return [
    ...(await removeGarbage(input, garbageOfEnded(ended, input.policy))),
    ...(await collectContainers(input, others)),
  ];
}

async function removeGarbage(input: CollectInput, { containers, sandboxIds }: Garbage): Promise<string[]> {
  const { cri, logger, signal } = input;
  const errors: string[] = [];
  const attempt = async (id: string, work: () => Promise<unknown>) => {
    if (signal?.aborted) return;
    await work().catch((error: unknown) => {
      if (signal?.aborted) return;
      errors.push(errorMessage(error));
      logger.warn({ id, error: errorMessage(error) }, 'garbage could not be removed');
    });
  };
  for (const container of containers) await attempt(container.id, () => removeWithLogs(input, container));
  for (const podSandboxId of sandboxIds) {
    await attempt(podSandboxId, () => cri.runtime.removePodSandbox({ podSandboxId }, { signal }));
  }
  return errors;
}

/**
 * Removes a pod's surplus dead containers after one of its containers has exited. Failed removals and other garbage are left to
 * `collectContainers`.
 */
export async function pruneContainers(input: CollectInput, pod: RuntimePodStatus): Promise<void> {
  const { logger, policy } = input;
  for (const container of outdatedContainers(pod, policy)) {
    await removeWithLogs(input, container).catch((error: unknown) => {
      if (!isNotFound(error))
        logger.debug({ id: container.id, error: errorMessage(error) }, 'failed to remove a dead container');
    });
  }
}

/** Removes the container first, then its logs, which must stay readable as long as the container exists. */
async function removeWithLogs({ cri, signal }: CollectInput, container: RuntimeContainer): Promise<void> {
  const { id, logPath, state, terminationGracePeriodSeconds: graceSeconds = MINIMUM_GRACE_SECONDS } = container;
  if (state === 'unknown') {
    const timeoutMs = graceSeconds * 1000 + STOP_MARGIN_MS;
    await cri.runtime.stopContainer({ containerId: id, timeout: BigInt(graceSeconds) }, { timeoutMs, signal });
  }
  await cri.runtime.removeContainer({ containerId: id }, { signal });
  if (logPath === '') return;
  const name = basename(logPath);
  const files = (await namesIn(dirname(logPath))).filter((file) => file === name || file.startsWith(`${name}.`));
  for (const file of files) await rm(join(dirname(logPath), file), { force: true });
}
