import { errorMessage, type Logger, sleep } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import {
  CGROUP_REFRESH_PERIOD_MS,
  CONTAINER_GC_PERIOD_MS,
  IMAGE_GC_PERIOD_MS,
  ORPHAN_PERIOD_MS,
  VOLUME_LIMITS_PERIOD_MS,
} from '../limits.ts';
import { collectContainers } from './container-gc.ts';
import type { GarbagePolicy } from './dead-containers.ts';
import type { ImageGcPolicy } from './image-garbage.ts';
import { ImageGarbageCollector } from './image-gc.ts';
import { type LogRotationPolicy, rotateLogs } from './log-rotation.ts';

export type HousekeepingInput = {
  cri: CriClient;
  policies: { images: ImageGcPolicy; containers: GarbagePolicy; logs: LogRotationPolicy & { monitorPeriodMs: number } };
  runtimePods: () => RuntimePodStatus[];
  /** Ends pods that no source has, and forgets delays that are over (HandlePodCleanups of the kubelet). */
  cleanUpPods: () => void;
  /** Brings the cgroups of classes up to date, and removes those of pods that are gone. */
  refreshCgroups: () => Promise<void>;
  /** Ends pods of which a volume has grown too large. */
  enforceVolumeLimits: () => Promise<void>;
  logger: Logger;
};

/** Garbage collection, log rotation and the limits of volumes, each in its own period, until the signal aborts. */
export async function runHousekeeping(input: HousekeepingInput, signal: AbortSignal): Promise<void> {
  const { cri, policies, runtimePods, logger } = input;
  const images = new ImageGarbageCollector({ cri, policy: policies.images, logger });
  const containers = () => runtimePods().flatMap((pod) => pod.containers);
  await Promise.all([
    every(CONTAINER_GC_PERIOD_MS, () => collectContainers({ cri, logger, policy: policies.containers }, runtimePods())),
    every(IMAGE_GC_PERIOD_MS, () => images.run()),
    every(policies.logs.monitorPeriodMs, () => rotateLogs({ cri, logger, policy: policies.logs }, containers())),
    every(ORPHAN_PERIOD_MS, async () => input.cleanUpPods()),
    every(CGROUP_REFRESH_PERIOD_MS, () => input.refreshCgroups()),
    every(VOLUME_LIMITS_PERIOD_MS, () => input.enforceVolumeLimits()),
  ]);

  async function every(periodMs: number, work: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      await sleep(periodMs, signal).catch(() => undefined);
      if (signal.aborted) return;
      await work().catch((error: unknown) => logger.warn({ error: errorMessage(error) }, 'housekeeping failed'));
    }
  }
}
