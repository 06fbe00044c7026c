import { errorMessage, type Logger, sleep } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import { collectContainers } from './gc/container-gc.ts';
import { ImageGarbageCollector } from './gc/image-gc.ts';
import { rotateLogs } from './gc/log-rotation.ts';
import type { RuntimePodStatus } from './kuberuntime/runtime-pod.ts';
import type { KubeletOptions } from './options.ts';

export type HousekeepingInput = {
  cri: CriClient;
  options: KubeletOptions;
  runtimePods: () => RuntimePodStatus[];
  /** Ends pods that no source has. */
  endOrphans: () => void;
  /** Ends pods of which a volume has grown too large. */
  enforceVolumeLimits: () => Promise<void>;
  logger: Logger;
};

/** The kubelet's periods. */
const periods = { containersMs: 60_000, imagesMs: 300_000, logsMs: 10_000, orphansMs: 60_000, volumesMs: 10_000 };

/** Garbage collection and log rotation, each in its own period, until the signal aborts. */
export async function keepHouse(input: HousekeepingInput, signal: AbortSignal): Promise<void> {
  const { cri, options, runtimePods, logger } = input;
  const images = new ImageGarbageCollector({ cri, policy: options.imageGc, logger });
  const containers = () => runtimePods().flatMap((pod) => pod.containers);
  await Promise.all([
    every(periods.containersMs, () => collectContainers({ cri, logger, policy: options.containerGc }, runtimePods())),
    every(periods.imagesMs, () => images.run()),
    every(periods.logsMs, () => rotateLogs({ cri, logger, policy: options.containerLog }, containers())),
    every(periods.orphansMs, async () => input.endOrphans()),
    every(periods.volumesMs, () => input.enforceVolumeLimits()),
  ]);

  async function every(periodMs: number, work: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      await sleep(periodMs, signal).catch(() => undefined);
      if (signal.aborted) return;
      await work().catch((error: unknown) => logger.warn({ error: errorMessage(error) }, 'housekeeping failed'));
    }
  }
}
