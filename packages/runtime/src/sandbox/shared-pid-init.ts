import { copyFileSync, existsSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { KeyedLock, type Logger, PodwrightError } from '@podwright/base';
import type { OciSpec } from '../oci/spec.ts';
import type { TaskRuntime } from '../tasks/task-runtime.ts';
import type { SandboxEnvironment } from './sandbox-controller.ts';
import type { SandboxRecord } from './sandbox-record.ts';

/** What the init is run with. */
export type SharedPidInitDependencies = {
  tasks: TaskRuntime;
  logger: Logger;
  state: string;
  /** Path of a static init that waits and reaps, such as `catatonit`; none if the machine has none. */
  program: () => Promise<string | undefined>;
  /** cgroupsPath of the OCI spec for a task of this sandbox. */
  cgroupsPath: (sandbox: SandboxRecord, taskId: string) => string;
};

/**
 * The first process of the PID namespace that the containers of a pod share. It is a task with the sandbox's id whose root
 * file system holds nothing but the init program. Made at the first need: most pods never need one.
 */
export class SharedPidInit {
  readonly #dependencies: SharedPidInitDependencies;
  readonly #starting = new KeyedLock();
  readonly #exitListeners = new Set<(sandboxId: string) => void>();
  readonly #watches = new Map<string, Disposable>();

  constructor(dependencies: SharedPidInitDependencies) {
    this.#dependencies = dependencies;
  }

  /** Path of the shared PID namespace. The init's death ends every process in it, so the path stays valid with it. */
  namespacePath(sandbox: SandboxRecord, environment: SandboxEnvironment, signal: AbortSignal): Promise<string> {
    return this.#starting.run(sandbox.id, async () => {
      const state = await this.#dependencies.tasks.state(sandbox.id);
      if (state.status === 'running') return `/proc/${state.pid}/ns/pid`;
      if (state.status === 'exited') {
        throw new PodwrightError('failed_precondition', `share PIDs in sandbox ${sandbox.id}: its init has ended`);
      }
      const pid = await this.#start(sandbox, environment, signal);
      return `/proc/${pid}/ns/pid`;
    });
  }

  /** Calls back with the sandbox's id when an init ends by itself. */
  onExit(listener: (sandboxId: string) => void): void {
    this.#exitListeners.add(listener);
  }

  /** Watches the init of an earlier life, if there is one. False if there was one and it has ended. */
  async resume(sandboxId: string): Promise<boolean> {
    const { status } = await this.#dependencies.tasks.state(sandboxId);
    if (status === 'running' && !this.#watches.has(sandboxId)) this.#watch(sandboxId);
    return status !== 'exited';
  }

  async stop(sandboxId: string): Promise<void> {
    this.#watches.get(sandboxId)?.[Symbol.dispose]();
    this.#watches.delete(sandboxId);
    await this.#dependencies.tasks.delete(sandboxId);
  }

  async #start(sandbox: SandboxRecord, environment: SandboxEnvironment, signal: AbortSignal): Promise<number> {
    const { tasks, state, cgroupsPath } = this.#dependencies;
    const spec = initSpec(await this.#rootDirectory(), environment, cgroupsPath(sandbox, sandbox.id));
    const bundle = join(state, 'tasks', sandbox.id);
    const task = { id: sandbox.id, bundle, spec, terminal: false, stdin: false, stdinOnce: false, logPath: '' };
    const { pid } = await tasks.create({ ...task, handler: sandbox.config.runtimeHandler }, signal);
    try {
      await tasks.start(sandbox.id);
    } catch (error) {
      await tasks.delete(sandbox.id);
      throw error;
    }
    this.#watch(sandbox.id);
    return pid;
  }

  #watch(sandboxId: string): void {
    const watch = this.#dependencies.tasks.onExit(sandboxId, () => {
      for (const listener of this.#exitListeners) listener(sandboxId);
    });
    this.#watches.set(sandboxId, watch);
  }

  /** One root file system for all inits, read-only: the program and the places for what is mounted. */
  async #rootDirectory(): Promise<string> {
    const root = join(this.#dependencies.state, 'init');
    const program = join(root, 'init');
    if (existsSync(program)) return root;
    const source = await this.#dependencies.program();
    if (source === undefined) {
      throw new PodwrightError(
        'failed_precondition',
        'share the PID namespace of a pod: no init program is there; install the package catatonit',
      );
    }
    for (const name of ['proc', 'dev', 'sys']) mkdirSync(join(root, name), { recursive: true, mode: 0o755 });
    copyFileSync(source, `${program}.new`);
    renameSync(`${program}.new`, program);
    return root;
  }
}

/** The init needs nothing: no capability, no writable place, only the pod's namespaces. `-P`: wait for a signal, reap. */
function initSpec(root: string, { namespaces }: SandboxEnvironment, cgroupsPath: string): OciSpec {
  const none = { bounding: [], effective: [], permitted: [], inheritable: [], ambient: [] };
  return {
    ociVersion: '1.0.2',
    process: {
      terminal: false,
      user: { uid: 65534, gid: 65534 },
      args: ['/init', '-P'],
      env: [],
      cwd: '/',
      capabilities: none,
      noNewPrivileges: true,
    },
    root: { path: root, readonly: true },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc', options: ['nosuid', 'noexec', 'nodev', 'ro'] },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'noexec', 'mode=755', 'size=64k'] },
    ],
    linux: {
      cgroupsPath,
      namespaces: [
        { type: 'pid' },
        { type: 'mount' },
        ...(['network', 'ipc', 'uts'] as const).flatMap((type) =>
          namespaces[type] ? [{ type, path: namespaces[type] }] : [],
        ),
      ],
      resources: { cpu: { shares: 2 } },
    },
  };
}
