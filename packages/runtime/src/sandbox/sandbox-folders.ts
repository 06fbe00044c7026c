import { mkdirSync, rmSync } from 'node:fs';
import { chown, copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { CONTAINER_FILE, isErrno, makePrivateDirectory, PRIVATE_DIRECTORY, wrapError } from '@podwright/base';
import { unmountEntries, unmountTree } from '../sys/mountinfo.ts';
import { mountAll } from '../sys/mounts.ts';
import type { System } from '../sys/system.ts';
import { hostIdOf } from '../sys/user-namespace.ts';
import type { SandboxEnvironment } from './sandbox-controller.ts';
import { hostsFile, resolvConf } from './sandbox-files.ts';
import type { SandboxRecord } from './sandbox-record.ts';

/** What every Kubernetes runtime gives a pod. */
const SHM_OPTIONS = ['nosuid', 'noexec', 'nodev', 'mode=1777', 'size=67108864'];

/** The files that a pod's containers share, and its shared memory: all in `<state>/sandboxes/<id>`. */
export class SandboxFolders {
  readonly #system: System;
  readonly #root: string;

  /** `state` is the runtime's folder of what a reboot may lose. */
  constructor({ system, state }: { system: System; state: string }) {
    this.#system = system;
    this.#root = join(state, 'sandboxes');
    makePrivateDirectory(this.#root);
  }

  /** The sandbox's folder; whoever made the sandbox may keep more in it. */
  path(sandboxId: string): string {
    return join(this.#root, sandboxId);
  }

  /** Makes the folder with everything in it but the addresses. */
  async make(sandbox: SandboxRecord): Promise<void> {
    const { config } = sandbox;
    const { files, shm } = this.paths(sandbox);
    await mkdir(this.path(sandbox.id), { recursive: true, mode: PRIVATE_DIRECTORY });
    const dns = config.dns === undefined ? '' : resolvConf(config.dns);
    await Promise.all([
      writeFile(files.hostname, `${config.hostname === '' ? hostname() : config.hostname}\n`, { mode: CONTAINER_FILE }),
      dns === ''
        ? copyIfThere('/etc/resolv.conf', files.resolvConf)
        : writeFile(files.resolvConf, dns, { mode: CONTAINER_FILE }),
      config.network === 'node' ? copyIfThere('/etc/hosts', files.hosts) : this.setAddresses(sandbox, []),
    ]);
    const { uid, gid } = rootOf(sandbox);
    if (uid !== 0 || gid !== 0) await Promise.all(Object.values(files).map((path) => chown(path, uid, gid)));
    if (config.ipc === 'node') return;
    mkdirSync(shm, { mode: PRIVATE_DIRECTORY });
    const options = [...SHM_OPTIONS, `uid=${uid}`, `gid=${gid}`];
    mountAll(this.#system, [{ type: 'tmpfs', source: 'shm', options }], shm);
  }

  /** Writes the hosts file anew. A pod in the machine's network has the machine's. */
  async setAddresses(sandbox: SandboxRecord, ips: string[]): Promise<void> {
    if (sandbox.config.network === 'node') return;
    await writeFile(this.paths(sandbox).files.hosts, hostsFile(sandbox.config.hostname, ips), { mode: CONTAINER_FILE });
  }

  paths({ id, config }: SandboxRecord): Pick<SandboxEnvironment, 'files' | 'shm'> {
    const directory = this.path(id);
    return {
      files: {
        hosts: join(directory, 'hosts'),
        hostname: join(directory, 'hostname'),
        resolvConf: join(directory, 'resolv.conf'),
      },
      shm: config.ipc === 'node' ? '/dev/shm' : join(directory, 'shm'),
    };
  }

  /** Takes down what is mounted in the folder. */
  unmount(sandboxId: string): void {
    unmountEntries(this.#system, this.path(sandboxId));
  }

  /** Removes the folder with what is in it. No error if there is none. */
  remove(sandboxId: string): void {
    unmountTree(this.#system, this.path(sandboxId)); // whatever is mounted in there, wherever: its files must survive
    try {
      rmSync(this.path(sandboxId), { recursive: true, force: true });
    } catch (cause) {
      throw wrapError(`remove files of sandbox ${sandboxId}`, cause);
    }
  }

  /** Ids of the sandboxes that have a folder, whoever made them. */
  list(): Promise<string[]> {
    return readdir(this.#root);
  }
}

/** Who the pod's root is for the machine. */
function rootOf({ config: { userNamespace } }: SandboxRecord): { uid: number; gid: number } {
  if (userNamespace === undefined) return { uid: 0, gid: 0 };
  return { uid: hostIdOf(userNamespace.uids, 0) ?? 0, gid: hostIdOf(userNamespace.gids, 0) ?? 0 };
}

async function copyIfThere(source: string, target: string): Promise<void> {
  try {
    await copyFile(source, target);
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
    await writeFile(target, '', { mode: CONTAINER_FILE });
  }
}
