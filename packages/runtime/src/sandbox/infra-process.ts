import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { OciSpec } from '../oci/spec.ts';
import type { SandboxRecord } from '../records/sandbox-record.ts';
import { commitSpec } from '../tasks/bundle.ts';
import type { TaskRuntime, TaskState } from '../tasks/task-runtime.ts';

/** `state` is the runtime's directory of what a reboot may lose. */
export type InfraProcessDependencies = { tasks: TaskRuntime; state: string };

/** Sandboxes' own processes: each a task with the id of its sandbox. */
export class InfraProcess {
  readonly #dependencies: InfraProcessDependencies;
  readonly #exitListeners = new Set<(sandboxId: string) => void>();
  /** Those that run; none any more whose end was told. */
  readonly #watches = new Map<string, { pid: number; watch: Disposable | undefined }>();

  constructor(dependencies: InfraProcessDependencies) {
    this.#dependencies = dependencies;
  }

  /** Starts it and returns its pid. On failure nothing is left of it. */
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

  /** Calls back with the sandbox's id when a process ends by itself. */
  onExit(listener: (sandboxId: string) => void): void {
    this.#exitListeners.add(listener);
  }

  /** How it is; one that an earlier process of ours started is watched from now on. */
  async resume(sandboxId: string): Promise<TaskState> {
    const state = await this.#dependencies.tasks.state(sandboxId);
    if (state.status === 'running' && !this.#watches.has(sandboxId)) this.#watch(sandboxId, state.pid);
    return state;
  }

  /** Its pid while it is watched; no file is read. `undefined` if it does not run, or nobody has looked yet: see `resume`. */
  watchedPid(sandboxId: string): number | undefined {
    return this.#watches.get(sandboxId)?.pid;
  }

  /** Ends it, and removes everything of it. No error if there is none. */
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
