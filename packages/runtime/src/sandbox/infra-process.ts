import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { OciSpec } from '@podwright/oci';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import { commitSpec } from '../tasks/bundle.ts';
import type { TaskRuntime, TaskState } from '../tasks/task-runtime.ts';

/** `state`: the container runtime's directory for data that may be lost in a reboot. */
export type InfraProcessDependencies = { tasks: TaskRuntime; state: string };

/** Sandboxes' infra processes. Each is a task with the ID of its sandbox. */
export class InfraProcess {
  readonly #dependencies: InfraProcessDependencies;
  readonly #exitListeners = new Set<(sandboxId: string) => void>();
  /** Watched processes by sandbox ID. An entry is removed when its process's exit has been reported. */
  readonly #watches = new Map<string, { pid: number; watch: Disposable | undefined }>();

  constructor(dependencies: InfraProcessDependencies) {
    this.#dependencies = dependencies;
  }

  /** Starts the infra process and returns its PID. Leaves nothing behind on failure. */
  async start({ id, config }: SandboxRecord, spec: OciSpec, signal: AbortSignal): Promise<number> {
    const { tasks } = this.#dependencies;
    const task = { id, spec, terminal: false, stdin: false, stdinOnce: false, logPath: '' };
    const bundle = this.#bundle(id);
    commitSpec(bundle, spec);
    try {
      const { pid } = await tasks.create({ ...task, bundle, handler: config.runtimeHandler }, signal);
      await tasks.start(id);
      this.#watch(id, pid);
      return pid;
    } catch (error) {
      await this.#remove(id);
      throw error;
    }
  }

  /** Subscribes to infra processes that exit on their own. `listener` is called with the sandbox ID. */
  onExit(listener: (sandboxId: string) => void): void {
    this.#exitListeners.add(listener);
  }

  /** Returns the state of the infra process. Starts watching it if it was started before a restart of the container runtime. */
  async resume(sandboxId: string): Promise<TaskState> {
    const state = await this.#dependencies.tasks.state(sandboxId);
    if (state.status === 'running' && !this.#watches.has(sandboxId)) this.#watch(sandboxId, state.pid);
    return state;
  }

  /**
   * Returns a watched process's PID without reading any files; `undefined` if the process is not running or not watched yet (see `resume`).
   */
  watchedPid(sandboxId: string): number | undefined {
    return this.#watches.get(sandboxId)?.pid;
  }

  /** Kills the infra process, if there is one, and removes its task and bundle. */
  async stop(sandboxId: string): Promise<void> {
    this.#watches.get(sandboxId)?.watch?.[Symbol.dispose]();
    this.#watches.delete(sandboxId);
    await this.#remove(sandboxId);
  }

  async #remove(sandboxId: string): Promise<void> {
    await this.#dependencies.tasks.delete(sandboxId);
    rmSync(this.#bundle(sandboxId), { recursive: true, force: true });
  }

  #bundle(sandboxId: string): string {
    return join(this.#dependencies.state, 'tasks', sandboxId);
  }

  #watch(sandboxId: string, pid: number): void {
    const entry: { pid: number; watch: Disposable | undefined } = { pid, watch: undefined };
    this.#watches.set(sandboxId, entry);
    entry.watch = this.#dependencies.tasks.onExit(sandboxId, () => {
      this.#watches.delete(sandboxId);
      for (const listener of this.#exitListeners) listener(sandboxId);
    });
  }
}
