import { chownSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { CONTAINER_FILE, isErrno, makePrivateDirectory, PRIVATE_DIRECTORY, wrapError } from '@podwright/base';
import { hostIdOf, mountAll, type System, unmountEntries, unmountTree } from '@podwright/system';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import type { SandboxEnvironment } from './sandbox-controller.ts';
import { hostsFile, resolvConf } from './sandbox-files.ts';

/** Name of the sandboxes directory, in both the state directory and the root directory. */
export const SANDBOXES_DIRECTORY = 'sandboxes';

/** `root`: the container runtime's directory for persistent data. `state`: its directory for data that may be lost in a reboot. */
export type SandboxDirectoriesOptions = { system: System; root: string; state: string };

/** Mount options and size (64 MiB) of /dev/shm, as used by other Kubernetes container runtimes. */
const SHM_OPTIONS = ['nosuid', 'noexec', 'nodev', 'mode=1777', 'size=67108864'];

/**
 * Directories shared by a pod's containers: `<state>/sandboxes/<id>` for its shared memory, and `<root>/sandboxes/<id>` for its files. The
 * files are separate because containers can write to them: they must not fill the state directory's file system, which is in memory and
 * needed by all pods.
 */
export class SandboxDirectories {
  readonly #system: System;
  readonly #state: string;
  readonly #files: string;

  private constructor({ system, root, state }: SandboxDirectoriesOptions) {
    this.#system = system;
    this.#state = join(state, SANDBOXES_DIRECTORY);
    this.#files = join(root, SANDBOXES_DIRECTORY);
  }

  /** Creates the `sandboxes` directories in the state and root directories if necessary. */
  static open(options: SandboxDirectoriesOptions): SandboxDirectories {
    const opened = new SandboxDirectories(options);
    for (const directory of [opened.#state, opened.#files]) makePrivateDirectory(directory);
    return opened;
  }

  /** Returns the sandbox's subdirectory of the state directory. Its controller may store other files there. */
  path(sandboxId: string): string {
    return join(this.#state, sandboxId);
  }

  /**
   * Creates the sandbox's directories and everything in them except the addresses. The small files are written synchronously, which saves
   * seventeen round trips to the thread pool.
   */
  async make(sandbox: SandboxRecord): Promise<void> {
    const { config } = sandbox;
    for (const path of [this.path(sandbox.id), join(this.#files, sandbox.id)])
      mkdirSync(path, { recursive: true, mode: PRIVATE_DIRECTORY });
    const { files, shm } = this.paths(sandbox);
    const dns = config.dns === undefined ? '' : resolvConf(config.dns);
    const name = config.hostname === '' ? hostname() : config.hostname;
    writeFileSync(files.hostname, `${name}\n`, { mode: CONTAINER_FILE });
    writeFileSync(files.resolvConf, dns || contentOf('/etc/resolv.conf'), { mode: CONTAINER_FILE });
    const hosts = config.network === 'node' ? contentOf('/etc/hosts') : hostsFile(config.hostname, []);
    writeFileSync(files.hosts, hosts, { mode: CONTAINER_FILE });
    const { uid, gid } = rootOf(sandbox);
    if (uid !== 0 || gid !== 0) for (const path of Object.values(files)) chownSync(path, uid, gid);
    if (config.ipc === 'node') return;
    mkdirSync(shm, { mode: PRIVATE_DIRECTORY });
    const options = [...SHM_OPTIONS, `uid=${uid}`, `gid=${gid}`];
    mountAll(this.#system, [{ type: 'tmpfs', source: 'shm', options }], shm);
  }

  /** Writes the addresses to the pod's hosts file. With host networking, this is a copy of the host's file and stays unchanged. */
  async setAddresses(sandbox: SandboxRecord, ips: string[]): Promise<void> {
    if (sandbox.config.network === 'node') return;
    writeFileSync(this.paths(sandbox).files.hosts, hostsFile(sandbox.config.hostname, ips), { mode: CONTAINER_FILE });
  }

  paths({ id, config }: SandboxRecord): Pick<SandboxEnvironment, 'files' | 'shm'> {
    const directory = this.#filesOf(id);
    return {
      files: {
        hosts: join(directory, 'hosts'),
        hostname: join(directory, 'hostname'),
        resolvConf: join(directory, 'resolv.conf'),
      },
      shm: config.ipc === 'node' ? '/dev/shm' : join(this.path(id), 'shm'),
    };
  }

  /**
   * Returns the directory of the pod's files. Earlier versions of Podwright stored them next to the shared memory, and containers created
   * by those versions still have them mounted from there.
   */
  #filesOf(sandboxId: string): string {
    const directory = join(this.#files, sandboxId);
    return existsSync(directory) ? directory : this.path(sandboxId);
  }

  /** Unmounts everything in the sandbox's directory. */
  unmount(sandboxId: string): void {
    unmountEntries(this.#system, this.path(sandboxId));
  }

  /** Removes the sandbox's directories, if they exist, and their contents. */
  remove(sandboxId: string): void {
    unmountTree(this.#system, this.path(sandboxId)); // or `rmSync` would delete the files in the mounts
    try {
      for (const directory of [this.#state, this.#files])
        rmSync(join(directory, sandboxId), { recursive: true, force: true });
    } catch (cause) {
      throw wrapError(`remove files of sandbox ${sandboxId}`, cause);
    }
  }

  /** Returns the IDs of the sandboxes that have a directory, regardless of their controller. */
  async list(): Promise<string[]> {
    const names = await Promise.all([this.#state, this.#files].map((directory) => readdir(directory)));
    return [...new Set(names.flat())];
  }
}

/** Returns the host UID and GID that the pod's root user is mapped to. */
function rootOf({ config: { userNamespace } }: SandboxRecord): { uid: number; gid: number } {
  if (userNamespace === undefined) return { uid: 0, gid: 0 };
  return { uid: hostIdOf(userNamespace.uids, 0) ?? 0, gid: hostIdOf(userNamespace.gids, 0) ?? 0 };
}

function contentOf(path: string): string | Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return '';
    throw error;
  }
}
