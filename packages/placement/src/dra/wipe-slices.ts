import { Backoff, errorMessage, type Logger, sleep } from '@podwright/base';
import { isApiStatus, type KubeClient, RESOURCE_SLICES } from '@podwright/kube-client';

/** Back-off for failed deletions of ResourceSlices, as in upstream. */
const SLICES_BACKOFF = { initialMs: 100, maxMs: 300_000 };

/** How long the ResourceSlices of a disconnected driver are retained, as in upstream. */
const DRA_SLICES_GRACE_MS = 30_000;

export type SliceWiperOptions = {
  client: Pick<KubeClient, 'deleteCollection'>;
  nodeName: string;
  logger: Logger;
  graceMs?: number;
};

/**
 * Deletes the ResourceSlices of unregistered drivers: on kubelet startup those of all drivers, since drivers publish their slices after
 * registering; later those of any driver that stays disconnected for the grace period.
 */
export class SliceWiper {
  readonly #options: SliceWiperOptions;
  /** Grace periods currently running, by driver. */
  readonly #waiting = new Map<string, AbortController>();
  readonly #closed = new AbortController();

  constructor(options: SliceWiperOptions) {
    this.#options = options;
  }

  start(): void {
    void this.#wipe(undefined, this.#closed.signal);
  }

  /**
   * Must be called when a driver registers or disconnects. Starts the driver's grace period on disconnect, and cancels it on registration.
   */
  driverChanged(driver: string, isThere: boolean): void {
    this.#waiting.get(driver)?.abort();
    this.#waiting.delete(driver);
    if (isThere || this.#closed.signal.aborted) return;
    const controller = new AbortController();
    this.#waiting.set(driver, controller);
    const signal = AbortSignal.any([controller.signal, this.#closed.signal]);
    sleep(this.#options.graceMs ?? DRA_SLICES_GRACE_MS, signal).then(
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
        if (signal.aborted || isApiStatus(error, 404)) return; // the API server does not serve ResourceSlices
        logger.debug({ fieldSelector, error: errorMessage(error) }, 'ResourceSlices could not be deleted');
        await sleep(backoff.next(''), signal).catch(() => undefined);
      }
    }
  }
}
