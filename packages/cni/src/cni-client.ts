import {
  describeUndoFailures,
  errorMessage,
  isDeadlineExceeded,
  KeyedLock,
  PodwrightError,
  type TraceWork,
  Undo,
  untraced,
  withTimeout,
  wrapError,
} from '@podwright/base';
import { type ProgramStarter, startByFork } from '@podwright/host';
import { type Attachment, validateAttachment } from './attachment.ts';
import { AttachmentCache, type AttachmentKey, type AttachmentRecord } from './attachment-cache.ts';
import { endStrayPlugins } from './left-processes.ts';
import { ADD_TIMEOUT_MS, DEL_TIMEOUT_MS, QUERY_TIMEOUT_MS, STRAY_TIMEOUT_MS } from './limits.ts';
import { isNamespace } from './netns.ts';
import type { NetworkList } from './network-list.ts';
import { type CallObserver, PluginCaller } from './plugin-caller.ts';
import { missingPlugins, missingPluginsError } from './plugin-path.ts';
import { type CniResult, decodeResult } from './result.ts';
import { SharedLock } from './shared-lock.ts';
import { selectVersion, supportsCheck, supportsGcAndStatus, supportsPrevResultOnDel } from './versions.ts';

/** Deadlines for one plugin run, in milliseconds. `strayMs` applies to a plugin left running by a container runtime that has died. */
export type CniDeadlines = { addMs: number; delMs: number; queryMs: number; strayMs: number };

export type CniClientOptions = {
  /** Directories to search for plugins, in order. Also passed to the plugins as `CNI_PATH`. */
  directories: string[];
  /** Persistent directory for attachment records. Must be used only by this client. */
  cacheDirectory: string;
  deadlines?: Partial<CniDeadlines>;
  /** Called with the outcome of each plugin run. */
  onCall?: CallObserver;
  /** Starts the processes of plugins. Default: `startByFork`. */
  start?: ProgramStarter;
  /** Traces each plugin run as part of the current operation. */
  trace?: TraceWork;
};

const defaultDeadlines: CniDeadlines = {
  addMs: ADD_TIMEOUT_MS,
  delMs: DEL_TIMEOUT_MS,
  queryMs: QUERY_TIMEOUT_MS,
  strayMs: STRAY_TIMEOUT_MS,
};

/**
 * Runs the plugins of network configurations (CNI 0.1.0 to 1.1.0). Operations on the same container are serialized, operations on different
 * containers run concurrently, and GC runs alone. An attachment's record stays in the cache until its DEL has succeeded.
 */
export class CniClient {
  readonly #directories: string[];
  readonly #deadlines: CniDeadlines;
  readonly #cache: AttachmentCache;
  readonly #caller: PluginCaller;
  readonly #containers = new KeyedLock();
  readonly #operations = new SharedLock();

  constructor(options: CniClientOptions) {
    this.#directories = options.directories;
    this.#deadlines = { ...defaultDeadlines, ...options.deadlines };
    this.#cache = new AttachmentCache(options.cacheDirectory);
    this.#caller = new PluginCaller(options.directories, {
      onCall: options.onCall,
      start: options.start ?? startByFork,
      trace: options.trace ?? untraced,
    });
  }

  /**
   * Adds a container to a network. If a plugin fails or the signal aborts, DEL is run for the whole plugin list before the promise rejects.
   * If DEL also fails, the error includes that failure, and the record is kept for a later `del`.
   */
  async add(list: NetworkList, attachment: Attachment, signal: AbortSignal): Promise<CniResult> {
    validateAttachment(attachment);
    return await this.#exclusively(attachment, signal, async () => {
      this.#requirePlugins(list);
      // the specification forbids a second ADD without DEL, so first remove the state of an interrupted ADD
      if (this.#cache.has(attachment)) await this.#del(attachment, list, signal);
      const cniVersion = await this.#negotiate(list, signal);
      return await this.#addOrUndo({ network: { ...list, cniVersion }, attachment, result: null }, signal);
    });
  }

  /**
   * Removes an attachment, using the configuration, parameters and result recorded by its ADD, or the given ones if there is no record. May
   * be called repeatedly, and even after the network namespace has been removed. Does nothing if there is neither a record nor a list.
   */
  async del(attachment: Attachment, list: NetworkList | undefined, signal: AbortSignal): Promise<void> {
    validateAttachment(attachment);
    await this.#exclusively(attachment, signal, () => this.#del(attachment, list, signal));
  }

  /** Runs CHECK, which fails if the attachment is no longer as ADD created it. Throws `not_found` if no ADD has succeeded. */
  async check(key: AttachmentKey, signal: AbortSignal): Promise<void> {
    await this.#exclusively(key, signal, async () => {
      const record = this.#cache.read(key);
      if (record === undefined || record.result === null)
        throw new PodwrightError('not_found', `CNI CHECK: ${key.containerId} was not added to a network`);
      if (record.network.disableCheck) return;
      if (!supportsCheck(record.network.cniVersion))
        throw new PodwrightError(
          'unimplemented',
          `CNI CHECK: version ${record.network.cniVersion} does not support it`,
        );
      await this.#inOrder('CHECK', record, signal);
    });
  }

  /**
   * Runs STATUS, which fails if the network's plugins cannot currently serve ADD. Throws the error of the first plugin that fails. Does
   * nothing for CNI before 1.1.0.
   */
  async status(list: NetworkList, signal: AbortSignal): Promise<void> {
    this.#requirePlugins(list);
    const cniVersion = await this.#negotiate(list, signal);
    if (!supportsGcAndStatus(cniVersion)) return;
    for (const plugin of list.plugins) {
      const network = { ...list, cniVersion };
      await this.#caller.call({ command: 'STATUS', network, plugin, timeoutMs: this.#deadlines.queryMs }, signal);
    }
  }

  /**
   * Releases the resources of this network's attachments that are not in `valid`: runs DEL for each one that has a record, and then GC.
   * Continues after an error, and throws all errors combined at the end.
   */
  async collectGarbage(list: NetworkList, valid: AttachmentKey[], signal: AbortSignal): Promise<void> {
    if (list.disableGC) return;
    const failures = await this.#operations.alone(
      async () => [...(await this.#deleteStale(list, valid, signal)), ...(await this.#runGc(list, valid, signal))],
      signal,
    );
    if (failures.length > 0)
      throw new PodwrightError('internal', `CNI GC of ${list.name}: ${failures.map(errorMessage).join('; ')}`);
  }

  /** Whether the cache has a record of this attachment. */
  has(key: AttachmentKey): boolean {
    return this.#cache.has(key);
  }

  /** Returns the recorded result of ADD, or `undefined` if no ADD has succeeded. Throws `data_loss` if the record is damaged. */
  result(key: AttachmentKey): CniResult | undefined {
    const record = this.#cache.read(key);
    if (record === undefined || record.result === null) return undefined;
    return decodeResult(JSON.stringify(record.result), record.network.cniVersion);
  }

  /** Returns the attachments that have a record: those that were added, partly added, or not completely removed. */
  async attachments(): Promise<AttachmentKey[]> {
    return await this.#cache.list();
  }

  /**
   * Runs `work` while no other work for the same container runs. If the signal aborts before `work` has started, rejects immediately and
   * does not start it.
   */
  #exclusively<T>({ containerId }: AttachmentKey, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    return this.#operations.shared(() => this.#containers.run(containerId, work, signal), signal);
  }

  #requirePlugins(list: NetworkList): void {
    const missing = missingPlugins(list, this.#directories);
    if (missing.length > 0) throw missingPluginsError(missing, this.#directories);
  }

  /** Picks the CNI version. Queries the plugins' versions only if the configuration allows several. */
  async #negotiate(list: NetworkList, signal: AbortSignal): Promise<string> {
    if (list.cniVersions.length < 2) return list.cniVersion;
    const timeoutMs = this.#deadlines.queryMs;
    const supported = list.plugins.map(({ type }) => this.#caller.supportedVersions(type, { timeoutMs, signal }));
    return selectVersion(list.cniVersions, await Promise.all(supported)) ?? list.cniVersion;
  }

  async #addOrUndo(record: AttachmentRecord, signal: AbortSignal): Promise<CniResult> {
    const { containerId } = record.attachment;
    const undo = new Undo();
    await this.#cache.write(record);
    undo.add('CNI DEL', () => this.#delTwice(record));
    try {
      const result = await this.#runAdd(record, signal);
      await this.#cache.write({ ...record, result: result.raw });
      return result;
    } catch (error) {
      const failures = await undo.run();
      const left = failures.length === 0 ? '' : `; and then ${describeUndoFailures(failures)}`;
      throw wrapError(`add ${containerId} to the network ${record.network.name}${left}`, error);
    }
  }

  /**
   * Runs DEL, and retries it once if it fails: some plugins fail on their own partial state the first time and succeed the second time (for
   * example `bridge` with `ipMasq`).
   */
  async #delTwice(record: AttachmentRecord): Promise<void> {
    const most = 2 * this.#deadlines.delMs * record.network.plugins.length;
    using signal = withTimeout(undefined, most, `remove ${record.attachment.containerId} again`);
    await this.#runDel(record, signal).catch((error) => {
      if (isDeadlineExceeded(error)) throw error; // a plugin that hangs would hang again
      return this.#runDel(record, signal);
    });
  }

  async #runAdd({ network, attachment }: AttachmentRecord, signal: AbortSignal): Promise<CniResult> {
    let result: CniResult | undefined;
    for (const plugin of network.plugins) {
      const extras = { prevResult: result?.raw, capabilityArgs: attachment.capabilityArgs };
      const timeoutMs = this.#deadlines.addMs;
      const call = { command: 'ADD', network, plugin, attachment, extras, timeoutMs } as const;
      const output = await this.#caller.call(call, signal);
      try {
        result = decodeResult(output, network.cniVersion);
      } catch (error) {
        throw wrapError(`plugin ${plugin.type}`, error);
      }
    }
    if (result === undefined) throw new PodwrightError('invalid_argument', `network ${network.name} has no plugins`);
    return result;
  }

  async #del(attachment: Attachment, list: NetworkList | undefined, signal: AbortSignal): Promise<void> {
    const record = this.#readOrAssume(attachment, list);
    if (record === undefined) return;
    try {
      const unfinished = record.result === null && this.#cache.has(attachment);
      if (unfinished) await endStrayPlugins(attachment.containerId, this.#deadlines.strayMs);
      await this.#runDel(record, signal);
    } catch (error) {
      throw wrapError(`remove ${attachment.containerId} from the network ${record.network.name}`, error);
    }
  }

  /**
   * Reads the attachment's record or, if there is none, builds one from the arguments. A damaged record is ignored if `list` is given.
   * Without a list it is an error, because the attachment's resources might still be allocated.
   */
  #readOrAssume(given: Attachment, list: NetworkList | undefined): AttachmentRecord | undefined {
    const assumed = list === undefined ? undefined : { network: list, attachment: given, result: null };
    try {
      const record = this.#cache.read(given);
      if (record === undefined) return assumed;
      const netnsPath = given.netnsPath === '' ? record.attachment.netnsPath : given.netnsPath;
      return { ...record, attachment: { ...record.attachment, netnsPath } };
    } catch (error) {
      if (assumed === undefined) throw error;
      return assumed;
    }
  }

  async #runDel(record: AttachmentRecord, signal: AbortSignal): Promise<void> {
    const alive = await isNamespace(record.attachment.netnsPath);
    const attachment = { ...record.attachment, netnsPath: alive ? record.attachment.netnsPath : '' };
    const network = { ...record.network, plugins: record.network.plugins.toReversed() };
    await this.#inOrder('DEL', { ...record, network, attachment }, signal);
    this.#cache.delete(attachment);
  }

  /**
   * Runs DEL or CHECK for the plugins in a record, in the record's order, which the caller has reversed for DEL. Stops at the first error,
   * as the specification requires: an address must not be released while a rule still refers to it.
   */
  async #inOrder(command: 'DEL' | 'CHECK', record: AttachmentRecord, signal: AbortSignal): Promise<void> {
    const { network, attachment, result } = record;
    const prevResult = supportsPrevResultOnDel(network.cniVersion) ? (result ?? undefined) : undefined;
    const extras = { prevResult, capabilityArgs: attachment.capabilityArgs };
    const timeoutMs = this.#deadlines.delMs;
    for (const plugin of network.plugins) {
      await this.#caller.call({ command, network, plugin, attachment, extras, timeoutMs }, signal);
    }
  }

  async #deleteStale(list: NetworkList, valid: AttachmentKey[], signal: AbortSignal): Promise<unknown[]> {
    const failures: unknown[] = [];
    for (const key of await this.#cache.list()) {
      if (valid.some(({ containerId, ifName }) => containerId === key.containerId && ifName === key.ifName)) continue;
      try {
        const record = this.#cache.read(key);
        if (record?.network.name === list.name) await this.#runDel(record, signal);
      } catch (error) {
        failures.push(error);
      }
    }
    return failures;
  }

  async #runGc(list: NetworkList, valid: AttachmentKey[], signal: AbortSignal): Promise<unknown[]> {
    const cniVersion = await this.#negotiate(list, signal);
    if (!supportsGcAndStatus(cniVersion)) return [];
    const validAttachments = valid.map(({ containerId, ifName }) => ({ containerID: containerId, ifname: ifName }));
    const network = { ...list, cniVersion };
    const failures: unknown[] = [];
    for (const plugin of list.plugins) {
      const call = { command: 'GC', network, plugin, extras: { validAttachments } } as const;
      await this.#caller.call({ ...call, timeoutMs: this.#deadlines.delMs }, signal).catch((e) => failures.push(e));
    }
    return failures;
  }
}
