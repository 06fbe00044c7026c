import { access, constants, statfs } from 'node:fs/promises';
import type { HealthCheck, HealthChecks } from '@podwright/api-documents';
import type { ObjectStore } from '@podwright/api-machinery';

export type HealthParts = {
  /** The store's directory, whose free disk space is checked. */
  directory: string;
  store: Pick<ObjectStore, 'list'>;
  now: () => number;
};

/** Minimum free disk space. With less, the next write to the store might fail. */
const MIN_FREE_BYTES = 1 << 20;

/** State of the server's components, as reported by its health checks. */
export class ServerHealth {
  readonly #parts: HealthParts;
  #controllers: 'starting' | 'running' | 'ended' = 'starting';
  #isStopping = false;
  /** The serving certificate, once it is issued. */
  certificates: { readonly expiresAtMs: number | undefined } | undefined;

  constructor(parts: HealthParts) {
    this.#parts = parts;
  }

  controllersStarted(): void {
    this.#controllers = 'running';
  }

  /** Must be called when a controller has returned. Unless the server is stopping, this is a bug. */
  controllerEnded(): void {
    if (!this.#isStopping) this.#controllers = 'ended';
  }

  stopping(): void {
    this.#isStopping = true;
  }

  /** The server's health checks. A full disk does not fail the liveness check, because a restart would not help. */
  get checks(): HealthChecks {
    const controllers = { name: 'controllers', check: () => this.#checkControllers() };
    const store = { name: 'store', check: () => this.#checkStore() };
    const certificate = { name: 'serving-certificate', check: () => this.#checkCertificate() };
    const shutdown: HealthCheck = { name: 'shutdown', check: () => this.#checkShutdown() };
    return {
      livez: [controllers],
      readyz: [store, controllers, certificate, shutdown],
      healthz: [store, controllers, certificate],
    };
  }

  #checkControllers(): void {
    if (this.#controllers === 'starting') throw new Error('the controllers have not started yet');
    if (this.#controllers === 'ended') throw new Error('a controller has ended');
  }

  async #checkStore(): Promise<void> {
    const { directory, store } = this.#parts;
    store.list('namespaces', { limit: 1 });
    await access(directory, constants.W_OK);
    const { bavail, bsize } = await statfs(directory);
    if (bavail * bsize < MIN_FREE_BYTES) throw new Error('the disk is full');
  }

  #checkCertificate(): void {
    const { expiresAtMs } = this.certificates ?? {};
    if (expiresAtMs !== undefined && expiresAtMs < this.#parts.now())
      throw new Error('the serving certificate has expired');
  }

  #checkShutdown(): void {
    if (this.#isStopping) throw new Error('the server is shutting down');
  }
}
