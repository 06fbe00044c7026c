import type { SandboxRecord } from '../records/sandbox-record.ts';
import type { SandboxController, SandboxEnvironment } from './sandbox-controller.ts';
import type { SandboxFolders } from './sandbox-folders.ts';
import type { SandboxNamespaces } from './sandbox-namespaces.ts';
import type { SharedPidInit } from './shared-pid-init.ts';

const INIT_ENDED = 'the init of the shared PID namespace has ended';

export type PinnedControllerDependencies = {
  namespaces: SandboxNamespaces;
  folders: SandboxFolders;
  init: SharedPidInit;
};

/**
 * Sandboxes without a process: their namespaces are held by bind mounts. A pod that shares its PID namespace gets an init
 * when the first container asks for it.
 */
export class PinnedController implements SandboxController {
  readonly name = 'pinned';
  readonly makesUserNamespaces = true;
  readonly #dependencies: PinnedControllerDependencies;

  constructor(dependencies: PinnedControllerDependencies) {
    this.#dependencies = dependencies;
  }

  async create(sandbox: SandboxRecord, signal: AbortSignal): Promise<{ netnsPath?: string }> {
    await this.#dependencies.namespaces.create(sandbox, signal);
    return { netnsPath: this.netnsPath(sandbox) };
  }

  start(sandbox: SandboxRecord): Promise<void> {
    return this.#dependencies.folders.make(sandbox);
  }

  setAddresses(sandbox: SandboxRecord, ips: string[]): Promise<void> {
    return this.#dependencies.folders.setAddresses(sandbox, ips);
  }

  environment(sandbox: SandboxRecord): SandboxEnvironment {
    const { namespaces, folders } = this.#dependencies;
    return { namespaces: namespaces.paths(sandbox), ...folders.paths(sandbox) };
  }

  sharedPidNamespace(sandbox: SandboxRecord, signal: AbortSignal): Promise<string> {
    return this.#dependencies.init.namespacePath(sandbox, this.environment(sandbox), signal);
  }

  async status(sandbox: SandboxRecord): Promise<{ alive: true } | { alive: false; reason: string }> {
    const missing = await this.#dependencies.namespaces.missing(sandbox);
    if (missing !== undefined) return { alive: false, reason: `namespace ${missing} is gone` };
    const alive = await this.#dependencies.init.resume(sandbox.id);
    return alive ? { alive } : { alive, reason: INIT_ENDED };
  }

  onLost(listener: (sandboxId: string, reason: string) => void): void {
    this.#dependencies.init.onExit((sandboxId) => listener(sandboxId, INIT_ENDED));
  }

  async stop(sandboxId: string): Promise<void> {
    const { namespaces, folders, init } = this.#dependencies;
    await init.stop(sandboxId);
    folders.unmount(sandboxId);
    namespaces.release(sandboxId);
  }

  async remove(sandboxId: string): Promise<void> {
    await this.stop(sandboxId);
    this.#dependencies.folders.remove(sandboxId);
  }

  async list(): Promise<string[]> {
    const { namespaces, folders } = this.#dependencies;
    return [...new Set([...(await namespaces.list()), ...(await folders.list())])];
  }

  netnsPath(sandbox: SandboxRecord): string | undefined {
    return this.#dependencies.namespaces.paths(sandbox).network;
  }
}
