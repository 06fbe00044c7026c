import { readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import {
  errorCode,
  errorMessage,
  type Logger,
  makePrivateDirectory,
  PodwrightError,
  PRIVATE_FILE,
  type ProgramStarter,
} from '@podwright/base';
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
  /** Directory of its own, on a file system that a reboot empties. */
  state: string;
  /** containerd's namespace: shims keep apart what has another one (`podwright`). */
  namespace?: string;
  logger: Logger;
  /** How shims' binaries are started. */
  start?: ProgramStarter;
};

const DEFAULT_NAMESPACE = 'podwright';

/**
 * Starts shims, finds them again after a restart, and receives their events. Whatever a shim runs, a task or a sandbox, has its
 * bundle here, `bundle(id)`, as shims look for those of the same pod beside each other.
 */
export class Shims {
  readonly events: ShimEvents;
  readonly #options: ShimsOptions;
  readonly #spool: PublishSpool;
  readonly #system = loadSystem();
  readonly #logs = new Map<string, Disposable>();
  /** Connections, and those that are being made, by address. */
  readonly #shims = new Map<string, Promise<Shim>>();

  private constructor(options: ShimsOptions, events: ShimEvents, spool: PublishSpool) {
    this.#options = options;
    this.events = events;
    this.#spool = spool;
  }

  /** Listens for the events of shims, also of those that an earlier process of ours has started. */
  static async open(options: ShimsOptions): Promise<Shims> {
    const { state, logger } = options;
    makePrivateDirectory(join(state, 'bundles'));
    const events = await ShimEvents.listen(eventSocket(state), logger);
    const spool = await PublishSpool.open({ directory: join(state, 'events'), events, logger });
    return new Shims(options, events, spool);
  }

  /** Directory for the `config.json` and the files of a shim's task or sandbox; the caller makes and removes it. */
  bundle(id: string): string {
    return join(this.#options.state, 'bundles', id);
  }

  /** Ids of all that has a bundle, tasks and sandboxes. */
  ids(): Promise<string[]> {
    return readdir(join(this.#options.state, 'bundles'));
  }

  /** What every shim is started with. */
  get home(): ShimHome {
    const { state, start, namespace = DEFAULT_NAMESPACE } = this.#options;
    return { namespace, events: eventSocket(state), publisher: this.#spool.program, start };
  }

  /**
   * Starts a shim for the bundle, whose `config.json` must be there, and remembers in the bundle where it is. A shim that
   * serves pods may already run for the sandbox that the annotations name: then it is that one.
   */
  async start(call: ShimCall, signal: AbortSignal): Promise<Shim> {
    if (basename(call.bundle) !== call.id)
      throw new PodwrightError('invalid_argument', `bundle ${call.bundle} is not named as ${call.id}`);
    this.#openLog(call.bundle);
    return await this.join(call.bundle, await startShim(this.home, call, signal), signal);
  }

  /** Remembers in a bundle that the shim at this endpoint serves it, too, and connects to it. */
  async join(bundle: string, endpoint: ShimEndpoint, signal: AbortSignal): Promise<Shim> {
    await writeEndpoint(bundle, endpoint);
    return await this.connect(endpoint, signal);
  }

  /** A connection to a shim, shared by all callers; `unavailable` if it does not run any more. */
  async connect(endpoint: ShimEndpoint, signal?: AbortSignal): Promise<Shim> {
    const known = await this.#shims.get(endpoint.address)?.catch(() => undefined); // then a new one may succeed
    if (known?.isOpen) return known;
    const timeout = AbortSignal.timeout(CONNECT_TIMEOUT_MS);
    const shim = Shim.connect(endpoint, signal === undefined ? timeout : AbortSignal.any([signal, timeout]));
    const forget = () => {
      if (this.#shims.get(endpoint.address) === shim) this.#shims.delete(endpoint.address);
    };
    this.#shims.set(endpoint.address, shim);
    shim.then(({ closed }) => closed.then(forget), forget);
    return await shim;
  }

  /** Where the shim of a bundle is or was; `undefined` if none was started for it; `data_loss` if the record is damaged. */
  async endpoint(bundle: string): Promise<ShimEndpoint | undefined> {
    return await readEndpoint(bundle);
  }

  /** Connects to the shim of a bundle, also after a restart; `undefined` if there is none any more. */
  async load(bundle: string, signal?: AbortSignal): Promise<Shim | undefined> {
    const endpoint = await this.endpoint(bundle);
    if (endpoint === undefined) return undefined;
    const shim = await this.#connectIfThere(endpoint, signal);
    signal?.throwIfAborted();
    if (shim !== undefined && !this.#logs.has(bundle)) this.#openLog(bundle);
    return shim;
  }

  /**
   * Removes what a dead shim left, its task's processes among it, and its socket, also if its binary fails at the rest, as
   * runc's of containerd 1.7 does that had no task yet. Returns how the task ended. The bundle must still be there.
   */
  async cleanUp(call: ShimCall, signal?: AbortSignal): Promise<{ exitCode: number; exitedAtMs: number }> {
    try {
      return await deleteDeadShim(this.home, call, signal);
    } finally {
      await this.removeSocket(call.bundle);
    }
  }

  /** Lets go of a bundle that is removed. */
  forget(bundle: string): void {
    this.#logs.get(bundle)?.[Symbol.dispose]();
    this.#logs.delete(bundle);
  }

  /** Stops listening; shims go on. */
  async close(): Promise<void> {
    for (const log of this.#logs.values()) log[Symbol.dispose]();
    for (const shim of this.#shims.values())
      shim.then(
        (open) => open.close(),
        () => undefined, // there is no connection to close
      );
    this.#spool.close();
    await this.events.close();
  }

  /** Removes the socket that a killed shim left. A later shim for the same pod has the same: it stays if a shim answers. */
  async removeSocket(bundle: string): Promise<void> {
    const endpoint = await this.endpoint(bundle).catch((error) => {
      if (errorCode(error) !== 'data_loss') throw error;
      this.#options.logger.warn({ bundle, error: errorMessage(error) }, 'find the socket of a shim');
    });
    if (endpoint === undefined || (await this.#answers(endpoint))) return;
    const path = socketPath(endpoint.address);
    if (path.startsWith('/')) await rm(path, { force: true });
  }

  /** A shim that is just dying accepts connections still. */
  async #answers(endpoint: ShimEndpoint): Promise<boolean> {
    const shim = await this.#connectIfThere(endpoint);
    if (shim === undefined) return false;
    await shim.tasks.connect({ id: '' }, { timeoutMs: CONNECT_TIMEOUT_MS }).catch(() => undefined); // there is no such task
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
