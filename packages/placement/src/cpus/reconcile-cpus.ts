import { errorMessage, type Logger, sleep } from '@podwright/base';
import { formatCpus } from '@podwright/kube-api';
import type { CpuManager } from './cpu-manager.ts';

/** A running container: its pod, its name and its ID in the runtime. */
export type RunningContainer = { podUid: string; name: string; id: string };

/** The CPUs last applied to each container, by pod UID and container name. */
export class KnownCpus {
  readonly #known = new Map<string, string>();

  /** Must be called with the CPUs on which a container starts. */
  note(podUid: string, name: string, cpus: string): void {
    this.#known.set(`${podUid}/${name}`, cpus);
  }

  has(podUid: string, name: string, cpus: string): boolean {
    return this.#known.get(`${podUid}/${name}`) === cpus;
  }

  keepOnly(containers: RunningContainer[]): void {
    const there = new Set(containers.map(({ podUid, name }) => `${podUid}/${name}`));
    for (const key of this.#known.keys()) if (!there.has(key)) this.#known.delete(key);
  }
}

export type ReconcileInput = {
  /** Updates a running container's CPUs in the container runtime. */
  setCpus: (containerId: string, cpus: string, signal: AbortSignal) => Promise<unknown>;
  manager: CpuManager;
  known: KnownCpus;
  containers: () => RunningContainer[];
  periodMs: number;
  logger: Logger;
};

/**
 * Periodically applies the assigned CPUs to running containers, because each exclusive assignment changes the shared CPUs of all others.
 */
export async function reconcileCpus(input: ReconcileInput, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await reconcileOnce(input, signal);
    await sleep(input.periodMs, signal).catch(() => undefined);
  }
}

async function reconcileOnce({ setCpus, manager, known, containers, logger }: ReconcileInput, signal: AbortSignal) {
  const running = containers();
  known.keepOnly(running);
  for (const { podUid, name, id } of running) {
    const cpus = formatCpus(manager.cpusOf(podUid, name));
    if (cpus === '' || known.has(podUid, name, cpus)) continue;
    try {
      await setCpus(id, cpus, signal);
      known.note(podUid, name, cpus);
    } catch (error) {
      if (signal.aborted) return;
      logger.error(
        { container: name, uid: podUid, cpus, error: errorMessage(error) },
        'processors could not be changed',
      );
    }
  }
}
