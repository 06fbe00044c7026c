import { closeSync, mkdirSync, openSync, readdirSync, rmdirSync } from 'node:fs';
import { mkdir, readdir, statfs } from 'node:fs/promises';
import { hostname as hostnameOfHost } from 'node:os';
import { join } from 'node:path';
import { isErrno, type Logger, MOUNT_POINT_FILE, PRIVATE_DIRECTORY } from '@podwright/base';
import {
  createNamespaces,
  createOwnedNamespaces,
  mountFlags,
  preparePinDirectory,
  removeNamespace,
  type System,
  setUpNamespaces,
} from '@podwright/system';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import type { SandboxEnvironment } from './sandbox-controller.ts';

/** Subdirectory of the state directory for pinned namespaces. */
export const NAMESPACES_DIRECTORY = 'ns';

/** File system type of a pinned namespace (linux/magic.h). */
const NSFS_MAGIC = 0x6e736673;

/** `state`: the container runtime's directory for data that may be lost in a reboot. */
export type SandboxNamespacesDependencies = { system: System; logger: Logger; state: string };

/**
 * Sandboxes' namespaces. Each is pinned by a bind mount at `<state>/ns/<sandbox id>/<kind>`, so that it has a stable path and outlives its
 * processes.
 */
export class SandboxNamespaces {
  readonly #dependencies: SandboxNamespacesDependencies;
  readonly #root: string;
  /** IDs of future sandboxes with prepared namespaces. */
  readonly #prepared = new Set<string>();

  private constructor(dependencies: SandboxNamespacesDependencies) {
    this.#dependencies = dependencies;
    this.#root = join(dependencies.state, NAMESPACES_DIRECTORY);
  }

  /** Opens the sandboxes' namespaces. Mounts the directory of pinned namespaces if necessary. */
  static open(dependencies: SandboxNamespacesDependencies): SandboxNamespaces {
    const opened = new SandboxNamespaces(dependencies);
    preparePinDirectory(dependencies.system, opened.#root);
    return opened;
  }

  /**
   * Creates a sandbox's namespaces before its configuration is known, so that `create` for the same ID has less to do. Returns the path of
   * the network namespace. Only for sandboxes with their own network, IPC and UTS namespaces in the host's user namespace. Blocks for 1 to
   * 2 ms, or longer while the kernel is destroying other namespaces.
   */
  prepare(sandboxId: string): { netnsPath: string } {
    mkdirSync(join(this.#root, sandboxId), { mode: PRIVATE_DIRECTORY });
    const pins = this.#ownPins(sandboxId);
    createNamespaces(this.#dependencies, { ...pins, sysctls: POD_NETWORK_SYSCTLS });
    this.#prepared.add(sandboxId);
    return { netnsPath: pins.net };
  }

  /** Creates the sandbox's own namespaces. Throws `invalid_argument` for a sysctl that does not belong to any of them. */
  async create(sandbox: SandboxRecord, signal: AbortSignal): Promise<void> {
    if (this.#prepared.delete(sandbox.id)) return this.#finish(sandbox);
    const { hostname, userNamespace: mappings } = sandbox.config;
    const { network: net, ipc, uts, user } = this.paths(sandbox);
    await mkdir(join(this.#root, sandbox.id), { mode: PRIVATE_DIRECTORY });
    const request = {
      ...{ net, ipc, uts },
      hostname: hostname === '' ? undefined : hostname,
      sysctls: sysctlsOf(sandbox),
    };
    if (mappings === undefined || user === undefined) createNamespaces(this.#dependencies, request);
    else await createOwnedNamespaces(this.#dependencies, { ...request, user, mappings }, signal);
  }

  /** Returns the paths of the sandbox's namespaces. A sandbox that uses the host's network also uses the host's UTS namespace. */
  paths({ id, config }: SandboxRecord): SandboxEnvironment['namespaces'] {
    const ownNetwork = config.network === 'pod';
    return {
      network: ownNetwork ? this.#pin(id, 'net') : undefined,
      ipc: config.ipc === 'pod' ? this.#pin(id, 'ipc') : undefined,
      uts: ownNetwork ? this.#pin(id, 'uts') : undefined,
      ...(config.userNamespace === undefined ? {} : { user: this.#pin(id, 'user') }),
    };
  }

  /** Pins a process's PID namespace for the sandbox, in addition to the namespaces created by `create`. */
  pinPid(sandboxId: string, pid: number): void {
    const path = this.pidPath(sandboxId);
    closeSync(openSync(path, 'wx', MOUNT_POINT_FILE));
    this.#dependencies.system.mount(path, { source: `/proc/${pid}/ns/pid`, flags: mountFlags.bind });
  }

  /** Whether a PID namespace is pinned for the sandbox. */
  hasPid(sandboxId: string): Promise<boolean> {
    return isPinned(this.pidPath(sandboxId));
  }

  /** Returns the path of the sandbox's pinned PID namespace. */
  pidPath(sandboxId: string): string {
    return this.#pin(sandboxId, 'pid');
  }

  /** Returns the path of the sandbox's first missing namespace; undefined if none is missing. */
  async missing(sandbox: SandboxRecord): Promise<string | undefined> {
    for (const path of Object.values(this.paths(sandbox))) {
      if (path !== undefined && !(await isPinned(path))) return path;
    }
    return undefined;
  }

  /** Unpins all of the sandbox's namespaces, if there are any. The kernel removes each namespace when its last process exits. */
  release(sandboxId: string): void {
    this.#prepared.delete(sandboxId);
    const directory = join(this.#root, sandboxId);
    try {
      for (const kind of readdirSync(directory)) removeNamespace(this.#dependencies.system, join(directory, kind));
      rmdirSync(directory);
    } catch (error) {
      if (!isErrno(error, 'ENOENT')) throw error;
    }
  }

  /** Returns the IDs of the sandboxes that have namespaces, regardless of their controller. */
  list(): Promise<string[]> {
    return readdir(this.#root);
  }

  /**
   * Applies the settings from the sandbox's configuration, which was not available to `prepare`. Sets the host name even if the pod has
   * none of its own, because the host's might have changed since `prepare`.
   */
  #finish({ id, config }: SandboxRecord): void {
    const hostname = config.hostname === '' ? hostnameOfHost() : config.hostname;
    setUpNamespaces(this.#dependencies, { ...this.#ownPins(id), hostname, sysctls: config.sysctls });
  }

  #ownPins(sandboxId: string): { net: string; ipc: string; uts: string } {
    const [net, ipc, uts] = [this.#pin(sandboxId, 'net'), this.#pin(sandboxId, 'ipc'), this.#pin(sandboxId, 'uts')];
    return { net, ipc, uts };
  }

  #pin(sandboxId: string, kind: string): string {
    return join(this.#root, sandboxId, kind);
  }
}

/**
 * Sysctls that let a pod's processes bind to low ports and send pings without capabilities, as in containerd. Safe, because the pod has its
 * own network namespace.
 */
const POD_NETWORK_SYSCTLS = {
  'net.ipv4.ip_unprivileged_port_start': '0',
  'net.ipv4.ping_group_range': '0 2147483647',
};

function sysctlsOf({ config }: SandboxRecord): Record<string, string> {
  if (config.network === 'node') return config.sysctls;
  return { ...POD_NETWORK_SYSCTLS, ...config.sysctls };
}

async function isPinned(path: string): Promise<boolean> {
  try {
    return (await statfs(path)).type === NSFS_MAGIC;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false;
    throw error;
  }
}
