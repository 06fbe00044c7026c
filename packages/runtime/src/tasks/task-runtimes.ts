import { PodwrightError } from '@podwright/base';
import type { CgroupStats } from '@podwright/host';
import type { OciLinuxResources } from '@podwright/oci';
import type {
  ExecConfig,
  ExecSession,
  ExecSyncOptions,
  TaskCheckpoint,
  TaskConfig,
  TaskExit,
  TaskRuntime,
  TaskState,
} from './task-runtime.ts';

export type TaskRuntimesOptions = {
  /**
   * All task runtimes that might have tasks on this host, by name. Includes those no longer used by any handler, because their tasks must
   * still be stopped and deleted.
   */
  runtimes: ReadonlyMap<string, TaskRuntime>;
  /** Task runtime names by runtime handler; '' is the default handler. */
  handlers: ReadonlyMap<string, string>;
};

/**
 * Combines several task runtimes. New tasks are created by their handler's task runtime. Later calls are routed to the task's owner, even
 * if the handlers have changed. Task IDs are unique across all task runtimes.
 */
export class TaskRuntimes implements TaskRuntime {
  readonly name = 'handlers';
  readonly #options: TaskRuntimesOptions;
  /** The task runtimes that own the tasks looked up so far, by task ID. */
  readonly #owners = new Map<string, TaskRuntime>();

  constructor(options: TaskRuntimesOptions) {
    this.#options = options;
  }

  async create(config: TaskConfig, signal: AbortSignal): Promise<{ pid: number }> {
    const runtime = this.#ofHandler(config);
    const owner = await this.#find(config.id);
    if (owner !== undefined && owner !== runtime)
      throw new PodwrightError('already_exists', `create task ${config.id}: the id is in use in ${owner.name}`);
    const created = await runtime.create(config, signal);
    this.#owners.set(config.id, runtime);
    return created;
  }

  async start(id: string): Promise<void> {
    await (await this.#get(id)).start(id);
  }

  async kill(id: string, signal: string, options?: { all?: boolean }): Promise<void> {
    await (await this.#get(id)).kill(id, signal, options);
  }

  async state(id: string): Promise<TaskState> {
    return (await (await this.#find(id))?.state(id)) ?? { status: 'absent' };
  }

  onExit(id: string, listener: (exit: TaskExit) => void): Disposable {
    const known = this.#owners.get(id);
    if (known !== undefined) return known.onExit(id, listener);
    // the task has not been looked up since the restart, so any of the task runtimes might own it
    const watches = [...this.#options.runtimes.values()].map((runtime) => runtime.onExit(id, listener));
    return { [Symbol.dispose]: () => watches.forEach((watch) => void watch[Symbol.dispose]()) };
  }

  async delete(id: string): Promise<void> {
    await (await this.#find(id))?.delete(id);
    this.#owners.delete(id);
  }

  async isEmpty(id: string): Promise<boolean> {
    const owner = await this.#find(id);
    return owner === undefined || (await owner.isEmpty?.(id)) === true;
  }

  async execSync(id: string, command: string[], options: ExecSyncOptions) {
    return await (await this.#get(id)).execSync(id, command, options);
  }

  async exec(id: string, config: ExecConfig): Promise<ExecSession> {
    return await (await this.#get(id)).exec(id, config);
  }

  async attach(id: string, signal: AbortSignal, options?: { stdin?: boolean }): Promise<Omit<ExecSession, 'exit'>> {
    return await (await this.#get(id)).attach(id, signal, options);
  }

  async reopenLog(id: string, logPath: string): Promise<void> {
    await (await this.#get(id)).reopenLog(id, logPath);
  }

  async update(id: string, resources: OciLinuxResources): Promise<void> {
    await (await this.#get(id)).update(id, resources);
  }

  async checkpoint(id: string, checkpoint: TaskCheckpoint): Promise<void> {
    const runtime = await this.#get(id);
    if (runtime.checkpoint === undefined)
      throw new PodwrightError('unimplemented', `the task runtime ${runtime.name} does not support checkpoints`);
    await runtime.checkpoint(id, checkpoint);
  }

  async thaw(id: string): Promise<void> {
    await (await this.#find(id))?.thaw?.(id);
  }

  async use(id: string): Promise<CgroupStats | undefined> {
    return await (await this.#find(id))?.use?.(id);
  }

  async list(): Promise<string[]> {
    return (await Promise.all([...this.#options.runtimes.values()].map((runtime) => runtime.list()))).flat();
  }

  close(): void {
    for (const runtime of this.#options.runtimes.values()) runtime.close();
  }

  #ofHandler({ id, handler }: TaskConfig): TaskRuntime {
    const { runtimes, handlers } = this.#options;
    const runtime = runtimes.get(handlers.get(handler) ?? '');
    if (runtime !== undefined) return runtime;
    const known = [...handlers.keys()].filter((name) => name !== '').join(', ');
    throw new PodwrightError(
      'invalid_argument',
      `create task ${id}: unknown runtime handler ${JSON.stringify(handler)}, known are ${known || 'none'}; configure it`,
    );
  }

  async #get(id: string): Promise<TaskRuntime> {
    const owner = await this.#find(id);
    if (owner === undefined) throw new PodwrightError('not_found', `no task ${id}`);
    return owner;
  }

  async #find(id: string): Promise<TaskRuntime | undefined> {
    const known = this.#owners.get(id);
    if (known !== undefined) return known;
    for (const runtime of this.#options.runtimes.values())
      if ((await runtime.has?.(id)) ?? (await runtime.list()).includes(id)) {
        this.#owners.set(id, runtime);
        return runtime;
      }
    return undefined;
  }
}
