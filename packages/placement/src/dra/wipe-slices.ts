import { Backoff, errorMessage, type Logger, sleep } from '@podwright/base';
import { isApiStatus, type KubeClient, RESOURCE_SLICES } from '@podwright/kube-client';

/** Pauses between tries to delete ResourceSlices: upstream's. */
const SLICES_BACKOFF = { initialMs: 100, maxMs: 300_000 };

/** How long the ResourceSlices of a driver stay that has gone, as upstream's. */
const DRA_SLICES_KEPT_MS = 30_000;

export type SliceWiperOptions = {
  client: Pick<KubeClient, 'deleteCollection'>;
  nodeName: string;
  logger: Logger;
  keptMs?: number;
};

/**
 * Takes the devices of drivers that are not there out of the cluster's offer: those of all drivers when the kubelet starts, as a driver
 * publishes its own when it has registered; later those of one that has gone and not come back for half a minute.
 */
export class SliceWiper {
  readonly #options: SliceWiperOptions;
  /** By driver. */
  readonly #leaving = new Map<string, AbortController>();
  readonly #closed = new AbortController();

  constructor(options: SliceWiperOptions) {
    this.#options = options;
  }

  start(): void {
    void this.#wipe(undefined, this.#closed.signal);
  }

  /** A driver has come, or gone. */
  driverChanged(driver: string, isThere: boolean): void {
    this.#leaving.get(driver)?.abort();
    this.#leaving.delete(driver);
    if (isThere || this.#closed.signal.aborted) return;
    const controller = new AbortController();
    this.#leaving.set(driver, controller);
    const signal = AbortSignal.any([controller.signal, this.#closed.signal]);
    sleep(this.#options.keptMs ?? DRA_SLICES_KEPT_MS, signal).then(
      () => this.#wipe(driver, signal),
      () => undefined,
    );
  }

  stop(): void {
    this.#closed.abort();
  }

  async #wipe(driver: string | undefined, signal: AbortSignal): Promise<void> {
    const { client, nodeName, logger } = this.#options;
    const ofNode = `spec.nodeName=${nodeName}`;
    const fieldSelector = driver === undefined ? ofNode : `spec.driver=${driver},${ofNode}`;
    const backoff = new Backoff(SLICES_BACKOFF);
    while (!signal.aborted) {
      try {
        return await client.deleteCollection(RESOURCE_SLICES, { fieldSelector }, { signal });
      } catch (error) {
        if (signal.aborted || isApiStatus(error, 404)) return; // an API server without them
        logger.debug({ fieldSelector, error: errorMessage(error) }, 'ResourceSlices could not be deleted');
        await sleep(backoff.next(''), signal).catch(() => undefined);
      }
    }
  }
}
