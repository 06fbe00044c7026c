import { background, errorMessage, type Logger, pause } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import { type EventRecorder, nodeSubject } from '@podwright/kube-api';
import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import { collectContainers, pruneContainers } from './container-gc.ts';
import { ContainerLogLinks } from './container-log-links.ts';
import type { GarbagePolicy } from './dead-containers.ts';
import type { ImageGarbageCollector } from './image-gc.ts';
import { LogRotation, type LogRotationPolicy } from './log-rotation.ts';

/** Interval for updating the QoS cgroups, as in upstream. */
const CGROUP_REFRESH_PERIOD_MS = 60_000;

const IMAGE_GC_PERIOD_MS = 300_000;

/** Interval of container garbage collection, as in upstream; `IMAGE_GC_PERIOD_MS` is the interval for images. */
const CONTAINER_GC_PERIOD_MS = 60_000;

export type HousekeepingInput = {
  cri: CriClient;
  images: Pick<ImageGarbageCollector, 'begin' | 'run'>;
  policies: { containers: GarbagePolicy; logs: LogRotationPolicy & { monitorPeriodMs: number } };
  /** The directory for symlinks to container logs ('' for none), and the directory with the logs. */
  logLinks: { directory: string; podLogsDir: string };
  runtimePods: () => RuntimePodStatus[];
  /**
   * Kills pods that are no longer in any source, and removes leftovers of deleted pods and expired back-offs (upstream's
   * `HandlePodCleanups`).
   */
  cleanUpPods: () => Promise<void>;
  orphanPeriodMs: number;
  /** Calls the listener with each pod whose state in the container runtime has changed. Returns an unsubscribe function. */
  onPodChange: (listener: (pod: RuntimePodStatus) => void) => () => void;
  events: EventRecorder;
  nodeName: string;
  /** Updates the QoS cgroups. */
  refreshCgroups: () => Promise<void>;
  logger: Logger;
};

/** Runs garbage collection and log rotation, each at its own interval, until the signal aborts. */
export async function runHousekeeping(input: HousekeepingInput, signal: AbortSignal): Promise<void> {
  const { cri, policies, runtimePods, logger, events } = input;
  const warn = (reason: string, message: string) =>
    events.event(nodeSubject(input.nodeName), 'Warning', reason, message);
  const containers = { cri, logger, policy: policies.containers, signal };
  const logs = new LogRotation({ cri, logger, policy: policies.logs });
  const links = input.logLinks.directory === '' ? undefined : new ContainerLogLinks({ ...input.logLinks, logger });
  const stopFollowing = input.onPodChange((pod) => {
    void links?.update(pod); // never rejects
    if (policies.logs.maxSizeBytes >= 0) logs.follow(pod);
    background(logger, 'dead containers could not be removed', pruneContainers(containers, pod));
  });
  const begun = input.images.begin().catch((error: unknown) => {
    logger.warn({ error: errorMessage(error) }, 'images could not be listed');
  });
  await Promise.all([
    begun,
    every(CONTAINER_GC_PERIOD_MS, async () => {
      const errors = await collectContainers(containers, runtimePods());
      if (errors.length > 0) warn('ContainerGCFailed', errors.join('; '));
    }),
    every(IMAGE_GC_PERIOD_MS, () => input.images.run()),
    every(policies.logs.monitorPeriodMs, async () => {
      await links?.updateAll(runtimePods());
      if (policies.logs.maxSizeBytes < 0) return; // as in upstream, a negative size disables rotation
      logs.followAll(runtimePods());
      await logs.checkAll();
    }),
    every(input.orphanPeriodMs, () => input.cleanUpPods()),
    every(CGROUP_REFRESH_PERIOD_MS, () => input.refreshCgroups()),
  ]);
  stopFollowing();
  logs.close();
  await links?.close();

  async function every(periodMs: number, work: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      await pause(periodMs, signal);
      if (signal.aborted) return;
      await work().catch((error: unknown) => logger.warn({ error: errorMessage(error) }, 'housekeeping failed'));
    }
  }
}
