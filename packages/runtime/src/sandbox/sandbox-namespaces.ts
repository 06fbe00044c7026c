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

/** Its name below the state directory. */
export const NAMESPACES_DIRECTORY = 'ns';

/** File system type of a pinned namespace (linux/magic.h). */
const NSFS_MAGIC = 0x6e736673;

/** What the namespaces are made with; `state` is the runtime's directory of what a reboot may lose. */
export type SandboxNamespacesDependencies = { system: System; logger: Logger; state: string };

/**
 * The namespaces of sandboxes, each held by a bind mount at `<state>/ns/<sandbox id>/<kind>`: they have a path that stays the
 * same, and outlive every process.
 */
export class SandboxNamespaces {
  readonly #dependencies: SandboxNamespacesDependencies;
  readonly #root: string;
  /** Ids of sandboxes to come whose namespaces are there. */
  readonly #prepared = new Set<string>();

  private constructor(dependencies: SandboxNamespacesDependencies) {
    this.#dependencies = dependencies;
    this.#root = join(dependencies.state, NAMESPACES_DIRECTORY);
  }

  /** Mounts the directory of the pins, unless it is mounted. */
  static open(dependencies: SandboxNamespacesDependencies): SandboxNamespaces {
    const opened = new SandboxNamespaces(dependencies);
    preparePinDirectory(dependencies.system, opened.#root);
    return opened;
  }

  /**
   * Makes the namespaces of a sandbox of which nothing is known but its id, and returns the path of its network's: `create` for
   * that id then has less left to do. Only for one that will have network, IPC and host name for itself, in the host's user
   * namespace. It blocks for 1 to 2 ms, and longer while the kernel ends other namespaces.
   */
  prepare(sandboxId: string): { netnsPath: string } {
    mkdirSync(join(this.#root, sandboxId), { mode: PRIVATE_DIRECTORY });
    const pins = this.#ownPins(sandboxId);
    createNamespaces(this.#dependencies, { ...pins, sysctls: POD_NETWORK_SYSCTLS });
    this.#prepared.add(sandboxId);
    return { netnsPath: pins.net };
  }

  /** Makes those that the sandbox has for itself. A sysctl of none of them is an `invalid_argument`. */
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

  /** Where they are. The host's network comes with the host's host name. */
  paths({ id, config }: SandboxRecord): SandboxEnvironment['namespaces'] {
    const ownNetwork = config.network === 'pod';
    return {
      network: ownNetwork ? this.#pin(id, 'net') : undefined,
      ipc: config.ipc === 'pod' ? this.#pin(id, 'ipc') : undefined,
      uts: ownNetwork ? this.#pin(id, 'uts') : undefined,
      ...(config.userNamespace === undefined ? {} : { user: this.#pin(id, 'user') }),
    };
  }

  /** Pins the PID namespace of a process for the sandbox, beside those that `create` made. */
  pinPid(sandboxId: string, pid: number): void {
    const path = this.pidPath(sandboxId);
    closeSync(openSync(path, 'wx', MOUNT_POINT_FILE));
    this.#dependencies.system.mount(path, { source: `/proc/${pid}/ns/pid`, flags: mountFlags.bind });
  }

  /** Whether `pinPid` has pinned one. */
  hasPid(sandboxId: string): Promise<boolean> {
    return isPinned(this.pidPath(sandboxId));
  }

  /** Where `pinPid` pins. */
  pidPath(sandboxId: string): string {
    return this.#pin(sandboxId, 'pid');
  }

  /** The first of the sandbox's namespaces that is not there; undefined if all are. */
  async missing(sandbox: SandboxRecord): Promise<string | undefined> {
    for (const path of Object.values(this.paths(sandbox))) {
      if (path !== undefined && !(await isPinned(path))) return path;
    }
    return undefined;
  }

  /** Gives all of them up: each ends with its last process. No error if there is none. */
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

  /** Ids of the sandboxes that have any, of all controllers. */
  list(): Promise<string[]> {
    return readdir(this.#root);
  }

  /** What `prepare` could not know. The host may have got another name since. */
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
 * Processes of a pod may bind low ports and send pings without capabilities, as they may in containerd: the
 * network is theirs alone.
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
