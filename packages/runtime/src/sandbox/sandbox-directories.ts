import { chownSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { CONTAINER_FILE, isErrno, makePrivateDirectory, PRIVATE_DIRECTORY, wrapError } from '@podwright/base';
import { hostIdOf, mountAll, type System, unmountEntries, unmountTree } from '@podwright/system';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import type { SandboxEnvironment } from './sandbox-controller.ts';
import { hostsFile, resolvConf } from './sandbox-files.ts';

/** Its name, below the state directory and below the root. */
export const SANDBOXES_DIRECTORY = 'sandboxes';

/** `root` is the runtime's directory of lasting data, `state` that of what a reboot may lose. */
export type SandboxDirectoriesOptions = { system: System; root: string; state: string };

/** What every Kubernetes runtime gives a pod. */
const SHM_OPTIONS = ['nosuid', 'noexec', 'nodev', 'mode=1777', 'size=67108864'];

/**
 * What a pod's containers share: its shared memory in `<state>/sandboxes/<id>`, and in `<root>/sandboxes/<id>` the files that they
 * may write to, which must not fill the file system of the state: that is memory, and all other pods need some of it.
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

  /** Makes the two directories, unless they are there. */
  static open(options: SandboxDirectoriesOptions): SandboxDirectories {
    const opened = new SandboxDirectories(options);
    for (const directory of [opened.#state, opened.#files]) makePrivateDirectory(directory);
    return opened;
  }

  /** The sandbox's directory; its controller may keep more in it. */
  path(sandboxId: string): string {
    return join(this.#state, sandboxId);
  }

  /**
   * Makes the directories with everything in them but the addresses. Small files, written synchronously: by the thread pool they take
   * seventeen of its turns.
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

  /** Writes the hosts file anew. A pod in the host's network has the host's. */
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

  /** Sandboxes of earlier versions have their files beside the shared memory; their containers have them mounted. */
  #filesOf(sandboxId: string): string {
    const directory = join(this.#files, sandboxId);
    return existsSync(directory) ? directory : this.path(sandboxId);
  }

  /** Takes down what is mounted in the directory. */
  unmount(sandboxId: string): void {
    unmountEntries(this.#system, this.path(sandboxId));
  }

  /** Removes the directories with what is in them. No error if there are none. */
  remove(sandboxId: string): void {
    unmountTree(this.#system, this.path(sandboxId)); // whatever is mounted in there, wherever: its files must survive
    try {
      for (const directory of [this.#state, this.#files])
        rmSync(join(directory, sandboxId), { recursive: true, force: true });
    } catch (cause) {
      throw wrapError(`remove files of sandbox ${sandboxId}`, cause);
    }
  }

  /** Ids of the sandboxes that have a directory, of all controllers. */
  async list(): Promise<string[]> {
    const names = await Promise.all([this.#state, this.#files].map((directory) => readdir(directory)));
    return [...new Set(names.flat())];
  }
}

/** The ids that the pod's root has on the host. */
function rootOf({ config: { userNamespace } }: SandboxRecord): { uid: number; gid: number } {
  if (userNamespace === undefined) return { uid: 0, gid: 0 };
  return { uid: hostIdOf(userNamespace.uids, 0) ?? 0, gid: hostIdOf(userNamespace.gids, 0) ?? 0 };
}

/** What the host has in one of its files, which it may lack. */
function contentOf(path: string): string | Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return '';
    throw error;
  }
}
