import { readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import {
  errorCode,
  errorMessage,
  type Logger,
  makePrivateDirectory,
  PodwrightError,
  PRIVATE_FILE,
} from '@podwright/base';
import type { ProgramStarter } from '@podwright/host';
import { hasErrno, loadSystem } from '@podwright/system';
import { CONNECT_TIMEOUT_MS } from './limits.ts';
import { PublishSpool } from './publish-spool.ts';
import { Shim } from './shim.ts';
import { type ShimEndpoint, socketPath } from './shim-endpoint.ts';
import { ShimEvents } from './shim-events.ts';
import { readShimLog } from './shim-log.ts';
import { deleteDeadShim, type ShimCall, type ShimHome, startShim } from './shim-program.ts';
import { readEndpoint, writeEndpoint } from './shim-record.ts';

export type ShimsOptions = {
  /** Private directory of these shims, on a file system that is cleared on reboot. */
  state: string;
  /** The containerd namespace. Shims keep the tasks of different namespaces apart. Default: `podwright`. */
  namespace?: string;
  logger: Logger;
  /** Starts the shims' binaries. */
  start?: ProgramStarter;
};

const DEFAULT_NAMESPACE = 'podwright';

/**
 * Starts shims, reconnects to them after a restart, and receives their events. The bundles of all tasks and sandboxes are in one directory
 * (`bundle(id)`), because shims expect a pod's bundles to be siblings.
 */
export class Shims {
  readonly events: ShimEvents;
  readonly #options: ShimsOptions;
  readonly #spool: PublishSpool;
  readonly #system = loadSystem();
  readonly #logs = new Map<string, Disposable>();
  /** Connections and connection attempts, by shim address. */
  readonly #shims = new Map<string, Promise<Shim>>();

  private constructor(options: ShimsOptions, events: ShimEvents, spool: PublishSpool) {
    this.#options = options;
    this.events = events;
    this.#spool = spool;
  }

  /** Listens for shim events, including those of shims started before a restart of this process. */
  static async open(options: ShimsOptions): Promise<Shims> {
    const { state, logger } = options;
    makePrivateDirectory(join(state, 'bundles'));
    const events = await ShimEvents.listen(eventSocket(state), logger);
    const spool = await PublishSpool.open({ directory: join(state, 'events'), events, logger });
    return new Shims(options, events, spool);
  }

  /** Returns the directory for the `config.json` and other files of a task or sandbox. The caller creates and removes it. */
  bundle(id: string): string {
    return join(this.#options.state, 'bundles', id);
  }

  /** Returns the IDs of all tasks and sandboxes that have a bundle. */
  ids(): Promise<string[]> {
    return readdir(join(this.#options.state, 'bundles'));
  }

  /** Parameters common to all shims. */
  get home(): ShimHome {
    const { state, start, namespace = DEFAULT_NAMESPACE } = this.#options;
    return { namespace, events: eventSocket(state), publisher: this.#spool.program, start };
  }

  /**
   * Starts a shim for the bundle, which must contain a `config.json`, and records the shim's endpoint in the bundle. If the sandbox named
   * in the annotations already has a shim that can serve whole pods, connects to that one instead.
   */
  async start(call: ShimCall, signal: AbortSignal): Promise<Shim> {
    if (basename(call.bundle) !== call.id)
      throw new PodwrightError('invalid_argument', `bundle ${call.bundle} is not named ${call.id}`);
    this.#openLog(call.bundle);
    return await this.join(call.bundle, await startShim(this.home, call, signal), signal);
  }

  /** Records in a bundle that the shim at this endpoint also serves it, and connects to the shim. */
  async join(bundle: string, endpoint: ShimEndpoint, signal: AbortSignal): Promise<Shim> {
    await writeEndpoint(bundle, endpoint);
    return await this.connect(endpoint, signal);
  }

  /** Returns a connection to a shim, shared by all callers. Rejects with `unavailable` if the shim is not running. */
  async connect(endpoint: ShimEndpoint, signal?: AbortSignal): Promise<Shim> {
    const existing = await this.#shims.get(endpoint.address)?.catch(() => undefined); // a new attempt may succeed
    if (existing?.isOpen) return existing;
    const timeout = AbortSignal.timeout(CONNECT_TIMEOUT_MS);
    const shim = Shim.connect(endpoint, signal === undefined ? timeout : AbortSignal.any([signal, timeout]));
    const remove = () => {
      if (this.#shims.get(endpoint.address) === shim) this.#shims.delete(endpoint.address);
    };
    this.#shims.set(endpoint.address, shim);
    shim.then(({ closed }) => closed.then(remove), remove);
    return await shim;
  }

  /**
   * Returns the recorded endpoint of a bundle's shim; `undefined` if no shim was started for it. Throws `data_loss` if the record is
   * damaged.
   */
  async endpoint(bundle: string): Promise<ShimEndpoint | undefined> {
    return await readEndpoint(bundle);
  }

  /**
   * Connects to a bundle's shim, even if it was started before a restart of this process. Returns `undefined` if the shim is not running.
   */
  async load(bundle: string, signal?: AbortSignal): Promise<Shim | undefined> {
    const endpoint = await this.endpoint(bundle);
    if (endpoint === undefined) return undefined;
    const shim = await this.#connectIfThere(endpoint, signal);
    signal?.throwIfAborted();
    if (shim !== undefined && !this.#logs.has(bundle)) this.#openLog(bundle);
    return shim;
  }

  /**
   * Removes the leftovers of a dead shim: its task's processes and its socket. The socket is removed even if the shim's binary fails, as
   * containerd 1.7's runc shim does if there is no task. Returns how the task exited. The bundle must still exist.
   */
  async cleanUp(call: ShimCall, signal?: AbortSignal): Promise<{ exitCode: number; exitedAtMs: number }> {
    try {
      return await deleteDeadShim(this.home, call, signal);
    } finally {
      await this.removeSocket(call.bundle);
    }
  }

  /** Stops reading the shim log of a bundle that is about to be removed. */
  forget(bundle: string): void {
    this.#logs.get(bundle)?.[Symbol.dispose]();
    this.#logs.delete(bundle);
  }

  /** Stops listening for events. The shims keep running. */
  async close(): Promise<void> {
    for (const log of this.#logs.values()) log[Symbol.dispose]();
    for (const shim of this.#shims.values())
      shim.then(
        (open) => open.close(),
        () => undefined, // the attempt failed, so there is no connection to close
      );
    this.#spool.close();
    await this.events.close();
  }

  /** Removes the socket of a killed shim, unless a shim responds on it: a later shim for the same pod uses the same path. */
  async removeSocket(bundle: string): Promise<void> {
    const endpoint = await this.endpoint(bundle).catch((error) => {
      if (errorCode(error) !== 'data_loss') throw error;
      this.#options.logger.warn({ bundle, error: errorMessage(error) }, 'find the socket of a shim');
    });
    if (endpoint === undefined || (await this.#answers(endpoint))) return;
    const path = socketPath(endpoint.address);
    if (path.startsWith('/')) await rm(path, { force: true });
  }

  /** Whether a shim responds to a call. A successful connection proves nothing, because a dying shim might still accept connections. */
  async #answers(endpoint: ShimEndpoint): Promise<boolean> {
    const shim = await this.#connectIfThere(endpoint);
    if (shim === undefined) return false;
    await shim.tasks.connect({ id: '' }, { timeoutMs: CONNECT_TIMEOUT_MS }).catch(() => undefined); // no task has this id
    return shim.isOpen;
  }

  async #connectIfThere(endpoint: ShimEndpoint, signal?: AbortSignal): Promise<Shim | undefined> {
    return await this.connect(endpoint, signal).catch((error) => {
      const fields = { address: endpoint.address, error: errorMessage(error) };
      if (errorCode(error) !== 'unavailable') this.#options.logger.warn(fields, 'connect to a shim');
      return undefined;
    });
  }

  #openLog(bundle: string): void {
    const fifo = join(bundle, 'log');
    try {
      this.#system.makeFifo(fifo, PRIVATE_FILE);
    } catch (error) {
      if (!hasErrno(error, 'EEXIST')) throw error;
    }
    this.forget(bundle);
    this.#logs.set(bundle, readShimLog(fifo, this.#options.logger.child({ bundle })));
  }
}

const eventSocket = (state: string) => join(state, 'events.sock');
