import type { SandboxRecord } from '../records/sandbox-record.ts';
import type { SandboxEnvironment } from './sandbox-controller.ts';
import type { SandboxDirectories } from './sandbox-directories.ts';
import type { SandboxNamespaces } from './sandbox-namespaces.ts';

/** Base class of the built-in sandbox controllers: manages namespaces pinned by bind mounts, and the pod's directories. */
export abstract class PinnedNamespacesController {
  readonly takesReadySandboxes = true;
  readonly #namespaces: SandboxNamespaces;
  readonly #directories: SandboxDirectories;

  constructor({ namespaces, directories }: { namespaces: SandboxNamespaces; directories: SandboxDirectories }) {
    this.#namespaces = namespaces;
    this.#directories = directories;
  }

  async create(sandbox: SandboxRecord, signal: AbortSignal): Promise<{ netnsPath?: string }> {
    await this.#namespaces.create(sandbox, signal);
    return { netnsPath: this.netnsPath(sandbox) };
  }

  setAddresses(sandbox: SandboxRecord, ips: string[]): Promise<void> {
    return this.#directories.setAddresses(sandbox, ips);
  }

  environment(sandbox: SandboxRecord): SandboxEnvironment {
    return { namespaces: this.#namespaces.paths(sandbox), ...this.#directories.paths(sandbox) };
  }

  netnsPath(sandbox: SandboxRecord): string | undefined {
    return this.#namespaces.paths(sandbox).network;
  }

  async list(): Promise<string[]> {
    return [...new Set([...(await this.#namespaces.list()), ...(await this.#directories.list())])];
  }

  /** If one of the sandbox's namespaces is missing, returns why the sandbox is lost; otherwise undefined. */
  protected async missingNamespace(sandbox: SandboxRecord): Promise<string | undefined> {
    const path = await this.#namespaces.missing(sandbox);
    return path && `namespace ${path} no longer exists`;
  }

  /** Unmounts everything in the sandbox's directory and unpins its namespaces, leaving only files. */
  protected release(sandboxId: string): void {
    this.#directories.unmount(sandboxId);
    this.#namespaces.release(sandboxId);
  }
}
