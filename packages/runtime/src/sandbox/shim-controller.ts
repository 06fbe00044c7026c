import { readlinkSync } from 'node:fs';
import {
  errorCode,
  errorMessage,
  isErrno,
  isUnimplemented,
  type Logger,
  PodwrightError,
  wrapError,
} from '@podwright/base';
import type { CgroupStats } from '@podwright/host';
import { type Shim, type ShimProgram, type Shims, statsOfMetric } from '@podwright/shim';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import { infraAnnotations } from './infra-spec.ts';
import { PinnedNamespacesController } from './pinned-namespaces-controller.ts';
import type { SandboxController } from './sandbox-controller.ts';
import type { SandboxDirectories } from './sandbox-directories.ts';
import type { SandboxNamespaces } from './sandbox-namespaces.ts';
import { endShimSandbox, startShimSandbox, untilEnded, whyNotAlive } from './shim-sandbox.ts';
import { ShimSandboxFiles } from './shim-sandbox-files.ts';

export type ShimControllerDependencies = {
  namespaces: SandboxNamespaces;
  directories: SandboxDirectories;
  /** The shims, which also run these sandboxes' tasks. A task finds its sandbox's shim through its bundle. */
  shims: Shims;
  /** Returns a runtime handler's shim; undefined if it has none. */
  programFor: (handler: string) => ShimProgram | undefined;
  /** Describes the pod in the form of sandbox options, as expected by shims. */
  describe: (sandbox: SandboxRecord) => { typeUrl: string; value: Uint8Array };
  logger: Logger;
  /** Grace period for a sandbox, and then for its shim, to stop on its own before it is killed. Default: 20 s. */
  graceMs?: number;
};

const GRACE_MS = 20_000;
/** Timeout for a shim's response to a request for details or statistics. */
const DETAILS_TIMEOUT_MS = 5_000;

/**
 * Controls sandboxes created by a shim through containerd's Sandbox API, for example virtual machines. There is one shim per sandbox, which
 * also runs the tasks of the sandbox's containers. The pod's network is set up before the shim starts, in a namespace created by this
 * container runtime; the shim receives the path of the namespace.
 */
export class ShimController extends PinnedNamespacesController implements SandboxController {
  readonly name = 'shim';
  readonly startsInNetwork = true;
  readonly holdsTasks = true;
  readonly #dependencies: ShimControllerDependencies;
  readonly #files: ShimSandboxFiles;
  readonly #listeners = new Set<(sandboxId: string, reason: string) => void>();
  /** IDs of sandboxes being watched for termination. */
  readonly #watched = new Set<string>();

  constructor(dependencies: ShimControllerDependencies) {
    super(dependencies);
    this.#dependencies = dependencies;
    this.#files = new ShimSandboxFiles(dependencies.shims);
  }

  override async create(sandbox: SandboxRecord, signal: AbortSignal): Promise<{ netnsPath?: string }> {
    this.#check(sandbox);
    return await super.create(sandbox, signal);
  }

  async start(sandbox: SandboxRecord, signal: AbortSignal): Promise<void> {
    const { directories, shims, describe } = this.#dependencies;
    const { id } = sandbox;
    const program = this.#program(sandbox);
    await directories.make(sandbox);
    const bundle = await this.#files.make(sandbox, { program });
    const shim = await shims.start({ id, bundle, program }, signal);
    const pid = await startShimSandbox(
      shim,
      {
        sandboxId: id,
        bundlePath: bundle,
        netnsPath: this.netnsPath(sandbox) ?? '',
        options: describe(sandbox),
        annotations: { ...sandbox.config.annotations, ...infraAnnotations(sandbox) },
      },
      signal,
    );
    await this.#files.write(id, { program, pid });
    this.#pinPids(sandbox, pid);
    this.#watch(id, shim);
  }

  /**
   * Returns the path of the PID namespace shared by the pod's containers. Throws `failed_precondition` if the shim does not report a
   * process in a PID namespace of the pod.
   */
  async sharedPidNamespace({ id }: SandboxRecord): Promise<string> {
    const { namespaces } = this.#dependencies;
    if (await namespaces.hasPid(id)) return namespaces.pidPath(id);
    throw new PodwrightError(
      'failed_precondition',
      `share PIDs in sandbox ${id}: its shim reports no process with a PID namespace of its own`,
    );
  }

  async status(sandbox: SandboxRecord): Promise<{ alive: true } | { alive: false; reason: string }> {
    const missing = await this.missingNamespace(sandbox);
    if (missing !== undefined) return { alive: false, reason: missing };
    try {
      const shim = await this.#shim(sandbox.id);
      const reason = await whyNotAlive(shim, sandbox.id);
      if (reason !== undefined) return { alive: false, reason };
      this.#watch(sandbox.id, shim!);
      return { alive: true };
    } catch (error) {
      if (errorCode(error) !== 'data_loss') throw error;
      return { alive: false, reason: errorMessage(error) };
    }
  }

  onLost(listener: (sandboxId: string, reason: string) => void): void {
    this.#listeners.add(listener);
  }

  async stop(sandboxId: string): Promise<void> {
    const { shims, logger, graceMs = GRACE_MS } = this.#dependencies;
    this.#watched.delete(sandboxId);
    const record = await this.#files.read(sandboxId);
    if (record !== undefined) {
      const call = { id: sandboxId, bundle: shims.bundle(sandboxId), program: record.program };
      await endShimSandbox({ shims, call, graceMs, logger });
      await this.#files.remove(sandboxId);
    }
    this.release(sandboxId);
  }

  async remove(sandboxId: string): Promise<void> {
    await this.stop(sandboxId);
    this.#dependencies.directories.remove(sandboxId);
  }

  /**
   * Returns the IDs of the sandboxes managed by this controller, including those of which only the shim is left. For a sandbox without a
   * record, each controller removes the parts it has created.
   */
  override async list(): Promise<string[]> {
    return [...new Set([...(await super.list()), ...(await this.#files.list())])];
  }

  /** Returns the shim's description of the sandbox. */
  async describe({ id: sandboxId }: SandboxRecord): Promise<Record<string, unknown>> {
    const shim = await this.#shim(sandboxId);
    if (shim === undefined) return {};
    const { address } = shim.endpoint;
    const request = { sandboxId, verbose: true };
    const status = await this.#callForDetails(shim.sandbox.sandboxStatus(request, { timeoutMs: DETAILS_TIMEOUT_MS }));
    return { pid: status?.pid, shim: { address, state: status?.state, info: status?.info } };
  }

  async use({ id: sandboxId }: SandboxRecord): Promise<CgroupStats | undefined> {
    const shim = await this.#shim(sandboxId);
    if (shim === undefined) return undefined;
    const call = shim.sandbox.sandboxMetrics({ sandboxId }, { timeoutMs: DETAILS_TIMEOUT_MS });
    const { metrics } = (await this.#callForDetails(call)) ?? {};
    return metrics && statsOfMetric(metrics);
  }

  /** Stops watching the sandboxes, which keep running. */
  close(): void {
    this.#watched.clear();
  }

  /**
   * Returns a shim's response. If the call fails, logs a warning and returns undefined, so that one shim cannot make a list of all
   * sandboxes fail.
   */
  async #callForDetails<T>(call: Promise<T>): Promise<T | undefined> {
    return await call.catch((error) => {
      if (!isUnimplemented(error))
        this.#dependencies.logger.warn({ error: errorMessage(error) }, 'cannot get details from a shim');
      return undefined;
    });
  }

  /** Returns a sandbox's shim; undefined if it has exited. */
  #shim(sandboxId: string): Promise<Shim | undefined> {
    const { shims } = this.#dependencies;
    return shims.load(shims.bundle(sandboxId));
  }

  /**
   * Throws `failed_precondition` if the handler has no shim, or if the pod requests a user namespace, which the shim would ignore because
   * the Sandbox API has no field for it.
   */
  #check(sandbox: SandboxRecord): void {
    this.#program(sandbox);
    if (sandbox.config.userNamespace === undefined) return;
    throw new PodwrightError(
      'failed_precondition',
      `start sandbox ${sandbox.id}: shim sandboxes do not support user namespaces; use a handler with another sandbox controller`,
    );
  }

  #program({ id, config }: SandboxRecord): ShimProgram {
    const program = this.#dependencies.programFor(config.runtimeHandler);
    if (program !== undefined) return program;
    throw new PodwrightError(
      'failed_precondition',
      `start sandbox ${id}: the runtime handler "${config.runtimeHandler}" has no shim`,
    );
  }

  /** Pins the sandbox's PID namespace for its containers, unless it is the host's. */
  #pinPids({ id, config }: SandboxRecord, pid: number): void {
    if (pid === 0 || config.pid === 'node') return;
    try {
      if (readlinkSync(`/proc/${pid}/ns/pid`) === readlinkSync('/proc/self/ns/pid')) return;
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return; // not a process of this host, or one that has exited, which `#watch` reports
      throw wrapError(`read the PID namespace of process ${pid} of sandbox ${id}`, error, 'internal');
    }
    this.#dependencies.namespaces.pinPid(id, pid);
  }

  #watch(sandboxId: string, shim: Shim): void {
    if (this.#watched.has(sandboxId)) return;
    this.#watched.add(sandboxId);
    untilEnded(shim, sandboxId).then((reason) => {
      if (!this.#watched.delete(sandboxId)) return; // the sandbox was stopped, or the controller closed
      for (const listener of this.#listeners) listener(sandboxId, reason);
    });
  }
}
