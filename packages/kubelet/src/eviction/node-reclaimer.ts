/** Frees disk space by removing unused containers and images before any pod is evicted. */
import { errorMessage, type Logger, pause } from '@podwright/base';
import type { DiskLayout, Signal } from '@podwright/kubelet-configuration';
import { type NodeReclaim, reclaimSteps } from './reclaim-steps.ts';

export type NodeReclaimerDependencies = { reclaim: NodeReclaim; logger: Logger };

/** `rankMs`: how long to wait for each reclaim step, in milliseconds. */
type Input = NodeReclaimerDependencies & { rankMs: number; stopping: AbortSignal };

/** Runs node-level reclaim steps. A slow step is never started twice. */
export class NodeReclaimer {
  readonly #input: Input;
  readonly #running = new Map<keyof NodeReclaim, Promise<void>>();

  constructor(input: Input) {
    this.#input = input;
  }

  /**
   * Runs the reclaim steps that can end a shortage of the eviction signal's resource. Returns false if there are no such steps. Never
   * rejects.
   */
  async reclaim(signal: Signal, layout: DiskLayout): Promise<boolean> {
    const steps = reclaimSteps(signal, layout);
    for (const step of steps) await this.run(step);
    return steps.length > 0;
  }

  isRunning(step: keyof NodeReclaim): boolean {
    return this.#running.has(step);
  }

  /** Starts the reclaim step unless it is already running, and waits a limited time for it to finish. Never rejects. */
  async run(step: keyof NodeReclaim): Promise<void> {
    const { rankMs, stopping } = this.#input;
    await Promise.race([this.#start(step), pause(rankMs, stopping)]);
  }

  #start(step: keyof NodeReclaim): Promise<void> {
    const { reclaim, logger, stopping } = this.#input;
    const running =
      this.#running.get(step) ??
      reclaim[step](stopping)
        .catch((error: unknown) =>
          logger.warn({ step, error: errorMessage(error) }, 'some unused containers or images could not be removed'),
        )
        .finally(() => this.#running.delete(step));
    this.#running.set(step, running);
    return running;
  }
}
