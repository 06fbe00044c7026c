import { mkdirSync } from 'node:fs';
import { copyFile, mkdir, readdir, rm, rmdir, statfs, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isErrno, type Logger, wrapError } from '@podwright/base';
import { unmountTree } from '../sys/mountinfo.ts';
import { mountAll } from '../sys/mounts.ts';
import { createNamespaces, preparePinDirectory, removeNamespace } from '../sys/namespaces.ts';
import type { System } from '../sys/system.ts';
import type { SandboxController, SandboxEnvironment } from './sandbox-controller.ts';
import { hostsFile, resolvConf } from './sandbox-files.ts';
import type { SandboxRecord } from './sandbox-record.ts';
import type { SharedPidInit } from './shared-pid-init.ts';

/** File system type of a pinned namespace (linux/magic.h). */
const NSFS_MAGIC = 0x6e736673;
/** What every Kubernetes runtime gives a pod. */
const SHM_OPTIONS = ['nosuid', 'noexec', 'nodev', 'mode=1777', 'size=67108864'];
const INIT_ENDED = 'the init of the shared PID namespace has ended';
const KINDS = ['net', 'ipc', 'uts'] as const;

/** What the controller works with; `state` is the runtime's folder of what a reboot may lose. */
export type PinnedControllerDependencies = {
  system: System;
  logger: Logger;
  state: string;
  init: SharedPidInit;
};

/**
 * Sandboxes without a process: their namespaces are held by bind mounts in `<state>/ns/<id>`, their files are in
 * `<state>/sandboxes/<id>`. A pod that shares its PID namespace gets an init when the first container asks for it.
 */
export class PinnedController implements SandboxController {
  readonly name = 'pinned';
  readonly #dependencies: PinnedControllerDependencies;
  readonly #pins: string;
  readonly #files: string;

  constructor(dependencies: PinnedControllerDependencies) {
    this.#dependencies = dependencies;
    this.#pins = join(dependencies.state, 'ns');
    this.#files = join(dependencies.state, 'sandboxes');
    mkdirSync(this.#files, { recursive: true, mode: 0o711 });
    preparePinDirectory(dependencies.system, this.#pins);
  }

  async create(sandbox: SandboxRecord): Promise<{ netnsPath?: string }> {
    const { config } = sandbox;
    const directory = join(this.#pins, sandbox.id);
    await mkdir(directory, { mode: 0o700 });
    createNamespaces(this.#dependencies, {
      ...this.#namespaces(sandbox),
      hostname: config.hostname === '' ? undefined : config.hostname,
      sysctls: sysctlsOf(sandbox),
    });
    return { netnsPath: this.netnsPath(sandbox) };
  }

  async start(sandbox: SandboxRecord): Promise<void> {
    const { config } = sandbox;
    const { files, shm } = this.environment(sandbox);
    await mkdir(join(this.#files, sandbox.id), { mode: 0o711 });
    const dns = config.dns === undefined ? '' : resolvConf(config.dns);
    await Promise.all([
      writeFile(files.hostname, `${config.hostname === '' ? hostname() : config.hostname}\n`, { mode: 0o644 }),
      dns === ''
        ? copyIfThere('/etc/resolv.conf', files.resolvConf)
        : writeFile(files.resolvConf, dns, { mode: 0o644 }),
      config.network === 'node' ? copyIfThere('/etc/hosts', files.hosts) : this.setAddresses(sandbox, []),
    ]);
    if (config.ipc === 'node') return;
    mkdirSync(shm);
    mountAll(this.#dependencies.system, [{ type: 'tmpfs', source: 'shm', options: SHM_OPTIONS }], shm);
  }

  async setAddresses(sandbox: SandboxRecord, ips: string[]): Promise<void> {
    if (sandbox.config.network === 'node') return;
    await writeFile(this.environment(sandbox).files.hosts, hostsFile(sandbox.config.hostname, ips), { mode: 0o644 });
  }

  environment(sandbox: SandboxRecord): SandboxEnvironment {
    const { net, ipc, uts } = this.#namespaces(sandbox);
    const directory = join(this.#files, sandbox.id);
    return {
      namespaces: { network: net, ipc, uts },
      files: {
        hosts: join(directory, 'hosts'),
        hostname: join(directory, 'hostname'),
        resolvConf: join(directory, 'resolv.conf'),
      },
      shm: sandbox.config.ipc === 'node' ? '/dev/shm' : join(directory, 'shm'),
    };
  }

  sharedPidNamespace(sandbox: SandboxRecord, signal: AbortSignal): Promise<string> {
    return this.#dependencies.init.namespacePath(sandbox, this.environment(sandbox), signal);
  }

  async status(sandbox: SandboxRecord): Promise<{ alive: true } | { alive: false; reason: string }> {
    for (const path of Object.values(this.#namespaces(sandbox))) {
      if (path !== undefined && !(await isPinned(path))) {
        return { alive: false, reason: `namespace ${path} is gone` };
      }
    }
    const alive = await this.#dependencies.init.resume(sandbox.id);
    return alive ? { alive } : { alive, reason: INIT_ENDED };
  }

  onLost(listener: (sandboxId: string, reason: string) => void): void {
    this.#dependencies.init.onExit((sandboxId) => listener(sandboxId, INIT_ENDED));
  }

  async stop(sandboxId: string): Promise<void> {
    const { system, init } = this.#dependencies;
    await init.stop(sandboxId);
    unmountTree(system, join(this.#files, sandboxId));
    for (const kind of KINDS) removeNamespace(system, join(this.#pins, sandboxId, kind));
    await rmdir(join(this.#pins, sandboxId)).catch(ignoreMissing);
  }

  async remove(sandboxId: string): Promise<void> {
    await this.stop(sandboxId);
    await rm(join(this.#files, sandboxId), { recursive: true, force: true }).catch((cause) => {
      throw wrapError(`remove files of sandbox ${sandboxId}`, cause);
    });
  }

  async list(): Promise<string[]> {
    return [...new Set([...(await readdir(this.#pins)), ...(await readdir(this.#files))])];
  }

  netnsPath(sandbox: SandboxRecord): string | undefined {
    return this.#namespaces(sandbox).net;
  }

  /** Pin files. The machine's network comes with the machine's host name. */
  #namespaces({ id, config }: SandboxRecord): { net?: string; ipc?: string; uts?: string } {
    const pin = (kind: string) => join(this.#pins, id, kind);
    const ownNetwork = config.network === 'pod';
    return {
      net: ownNetwork ? pin('net') : undefined,
      ipc: config.ipc === 'pod' ? pin('ipc') : undefined,
      uts: ownNetwork ? pin('uts') : undefined,
    };
  }
}

/**
 * Processes of a pod may bind low ports and send pings without capabilities, as they may in containerd: the
 * network is theirs alone.
 */
function sysctlsOf({ config }: SandboxRecord): Record<string, string> {
  if (config.network === 'node') return config.sysctls;
  return {
    'net.ipv4.ip_unprivileged_port_start': '0',
    'net.ipv4.ping_group_range': '0 2147483647',
    ...config.sysctls,
  };
}

async function isPinned(path: string): Promise<boolean> {
  try {
    return (await statfs(path)).type === NSFS_MAGIC;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false;
    throw error;
  }
}

async function copyIfThere(source: string, target: string): Promise<void> {
  try {
    await copyFile(source, target);
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
    await writeFile(target, '', { mode: 0o644 });
  }
}

function ignoreMissing(error: unknown): void {
  if (!isErrno(error, 'ENOENT')) throw error;
}
