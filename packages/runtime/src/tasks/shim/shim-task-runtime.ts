import { constants } from 'node:os';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import {
  background,
  describeUndoFailures,
  errorCode,
  errorMessage,
  KeyedLock,
  Limiter,
  type Logger,
  PodwrightError,
  sleep,
  Undo,
} from '@podwright/base';
import { type CgroupHierarchy, type CgroupStats, cgroupPids, pathExists, thawForKill } from '@podwright/host';
import type { OciLinuxResources } from '@podwright/oci';
import { MetricSchema, type Shim, type ShimProgram, type Shims, statsOfMetric } from '@podwright/shim';
import { isInCgroup, isRunning, loadSystem, signalNumber, signalProcess } from '@podwright/system';
import { checkTaskConfig } from '../check-task-config.ts';
import { collectExec, killExec } from '../collect-exec.ts';
import { EXEC_DRAIN_MS } from '../limits.ts';
import type {
  ExecConfig,
  ExecSession,
  ExecSyncOptions,
  TaskConfig,
  TaskExit,
  TaskRuntime,
  TaskState,
} from '../task-runtime.ts';
import { LOGS_WRITTEN_AT_ONCE, STATE_TIMEOUT_MS } from './limits.ts';
import { rebuildShimRecord } from './rebuild-record.ts';
import { callShim, isEnded } from './shim-error.ts';
import { ShimExec } from './shim-exec.ts';
import { groupOf } from './shim-group.ts';
import { adoptTask, type ShimTask, type ShimTaskDependencies } from './shim-task.ts';
import { createShimTask } from './shim-task-create.ts';
import { deleteShimTask } from './shim-task-delete.ts';
import { ShimTaskFiles, type ShimTaskRecord } from './shim-task-files.ts';
import { oneSizeAtATime } from './terminal-sizes.ts';

export type ShimTaskRuntimeOptions = {
  /** The runtime's private directory, on a file system that is cleared on reboot. */
  state: string;
  shims: Shims;
  /** Shim binaries by runtime handler. */
  handlers: Record<string, ShimProgram>;
  cgroups: CgroupHierarchy;
  logger: Logger;
};

const RESOURCES_TYPE_URL = 'types.containerd.io/opencontainers/runtime-spec/1/LinuxResources';

/**
 * Runs tasks in containerd shims, with one shim for all of a pod's containers. Shims outlive this process. This process handles stdio and
 * logs; both continue after a restart, because a holder process per task keeps the pipes open in the meantime.
 */
export class ShimTaskRuntime implements TaskRuntime {
  readonly name = 'shim-v2';
  readonly #options: ShimTaskRuntimeOptions;
  readonly #dependencies: ShimTaskDependencies;
  /** Tasks whose exit has not been recorded yet. */
  readonly #tasks = new Map<string, ShimTask>();
  readonly #listeners = new Map<string, Set<(exit: TaskExit) => void>>();
  readonly #changes = new KeyedLock();
  /** Lock per pod: serializes finding a shim, and stopping the shim along with the pod's last task. */
  readonly #groups = new KeyedLock();
  readonly #oomEvents: Disposable;

  private constructor(options: ShimTaskRuntimeOptions, files: ShimTaskFiles) {
    const { shims, cgroups, logger } = options;
    const oomKilled = new Set<string>();
    this.#options = options;
    const onExit = (id: string, exit: TaskExit) => this.#settle(id, exit);
    const logWriters = new Limiter(LOGS_WRITTEN_AT_ONCE);
    this.#dependencies = { shims, files, cgroups, logger, logWriters, system: loadSystem(), oomKilled, onExit };
    this.#oomEvents = shims.events.subscribe((event) => {
      if (event.kind === 'oom' && this.#tasks.has(event.taskId)) oomKilled.add(event.taskId);
    });
  }

  static async open(options: ShimTaskRuntimeOptions): Promise<ShimTaskRuntime> {
    const files = await ShimTaskFiles.open(join(options.state, 'records'));
    const runtime = new ShimTaskRuntime(options, files);
    await Promise.all((await files.list()).map((id) => runtime.#takeOver(id)));
    return runtime;
  }

  async create(config: TaskConfig, signal: AbortSignal): Promise<{ pid: number }> {
    checkTaskConfig(config);
    const program = this.#options.handlers[config.handler];
    if (program === undefined)
      throw new PodwrightError('invalid_argument', `create task ${config.id}: no shim for handler ${config.handler}`);
    signal.throwIfAborted();
    return await this.#changes.run(config.id, async () => {
      if ((await this.#dependencies.files.read(config.id)) !== undefined)
        throw new PodwrightError('already_exists', `create task ${config.id}: the id is in use`);
      return { pid: await this.#create(config, program, signal) };
    });
  }

  async start(id: string): Promise<void> {
    await this.#changes.run(id, async () => {
      const { shim } = await this.#get(id, 'start', ['created']);
      await callShim(`start task ${id}`, shim.tasks.start({ id }));
    });
  }

  async kill(id: string, signal: string, options: { all?: boolean } = {}): Promise<void> {
    const number = signalNumber(signal);
    const { pid, cgroupsPath } = await this.#dependencies.files.get(id);
    const task = this.#tasks.get(id);
    if (task === undefined || pid === undefined) return;
    // signal a process that is visible on the host directly, without starting a program
    if (!isRunning(pid) || !isInCgroup(pid, cgroupsPath))
      return await this.#killByShim(task, number, options.all ?? false);
    const { cgroups } = this.#options;
    signalProcess(pid, number);
    const others = options.all ? await cgroupPids(cgroups, cgroupsPath, { recursive: true }) : [];
    for (const other of others) if (other !== pid) signalProcess(other, number);
    if (number === constants.signals.SIGKILL) thawForKill(cgroups, cgroupsPath);
  }

  async state(id: string): Promise<TaskState> {
    const record = await this.#dependencies.files.read(id);
    if (record === undefined) return { status: 'absent' };
    const task = this.#tasks.get(id);
    if (task === undefined)
      return record.exit === undefined ? { status: 'absent' } : { status: 'exited', exit: record.exit };
    return await task.state();
  }

  onExit(id: string, listener: (exit: TaskExit) => void): Disposable {
    const listeners = this.#listeners.get(id) ?? new Set();
    this.#listeners.set(id, listeners.add(listener));
    const exit = this.#tasks.get(id)?.ended ?? this.#dependencies.files.read(id).then((record) => record?.exit);
    exit.then(
      (known) => known !== undefined && this.#settle(id, known),
      () => undefined, // `state` rejects with the same error
    );
    return {
      [Symbol.dispose]: () => {
        listeners.delete(listener);
        if (listeners.size === 0 && this.#listeners.get(id) === listeners) this.#listeners.delete(id);
      },
    };
  }

  async delete(id: string): Promise<void> {
    await this.#changes.run(id, () => this.#remove(id));
  }

  async execSync(id: string, command: string[], options: ExecSyncOptions) {
    const { shim, record } = await this.#get(id, 'run a command in', ['running']);
    const exec = await ShimExec.start({ ...this.#execParts(shim, record), command, terminal: false, stdin: false });
    try {
      return await collectExec(exec.running(this.#options.logger), options);
    } finally {
      exec.close(); // a child of the process may keep its output open forever
    }
  }

  async exec(id: string, { command, terminal, terminalName, signal }: ExecConfig): Promise<ExecSession> {
    const { shim, record } = await this.#get(id, 'run a command in', ['running']);
    signal.throwIfAborted();
    const request = { ...this.#execParts(shim, record), command, terminal, terminalName, stdin: true };
    const exec = await ShimExec.start(request);
    return execSession(exec, signal, this.#options.logger);
  }

  async attach(
    id: string,
    signal: AbortSignal,
    { stdin = true }: { stdin?: boolean } = {},
  ): Promise<Omit<ExecSession, 'exit'>> {
    const { task, shim } = await this.#get(id, 'attach to', ['created', 'running']);
    const resize = oneSizeAtATime((width, height) => shim.tasks.resizePty({ id, width, height }));
    return { ...task.io.attach(stdin, signal), resize };
  }

  async reopenLog(id: string): Promise<void> {
    const { task } = await this.#get(id, 'reopen the log of', ['created', 'running']);
    await task.io.reopenLog();
  }

  async update(id: string, resources: OciLinuxResources): Promise<void> {
    await this.#changes.run(id, async () => {
      const { shim } = await this.#get(id, 'update', ['created', 'running']);
      const value = Buffer.from(JSON.stringify(resources));
      await callShim(`update task ${id}`, shim.tasks.update({ id, resources: { typeUrl: RESOURCES_TYPE_URL, value } }));
    });
  }

  async use(id: string): Promise<CgroupStats | undefined> {
    const task = this.#tasks.get(id);
    if (task?.hasShim !== true || task.record.exit !== undefined) return undefined;
    const { tasks } = task.shim;
    const bound = { timeoutMs: STATE_TIMEOUT_MS };
    const answers = Promise.all([tasks.stats({ id }, bound), tasks.pids({ id }, bound)]);
    const [{ stats: data }, { processes }] = await callShim(`get the resource usage of task ${id}`, answers);
    const use = statsOfMetric(create(MetricSchema, { id, data }));
    return use && { ...use, processes: processes.length };
  }

  async list(): Promise<string[]> {
    return await this.#dependencies.files.list();
  }

  async has(id: string): Promise<boolean> {
    return await pathExists(this.#dependencies.files.path(id));
  }

  close(): void {
    this.#oomEvents[Symbol.dispose]();
    for (const task of this.#tasks.values()) task.close();
    this.#tasks.clear();
    this.#listeners.clear();
  }

  /** Adopts a task from before the restart. Failures are only logged, so that they do not affect other tasks. */
  async #takeOver(id: string): Promise<void> {
    const log = (error: unknown) =>
      this.#options.logger.error(
        { task: id, error: errorMessage(error) },
        'cannot take over a task from before the restart',
      );
    try {
      await this.#adopt(id);
    } catch (error) {
      log(error);
      if (errorCode(error) === 'data_loss') await this.#endDamaged(id).catch(log);
    }
  }

  /**
   * Kills a task that can no longer be managed because its record is damaged. Writes a new record first, so that the task can be removed.
   */
  async #endDamaged(id: string): Promise<void> {
    const { shims, files } = this.#dependencies;
    const record = await rebuildShimRecord(shims, id, Object.values(this.#options.handlers));
    if (record === undefined) return;
    await files.write(record);
    await this.#adopt(id);
    await this.kill(id, 'SIGKILL', { all: true });
  }

  async #adopt(id: string): Promise<void> {
    const record = await this.#dependencies.files.get(id);
    const task = await adoptTask(this.#dependencies, record);
    if (task !== undefined) this.#tasks.set(id, task);
  }

  async #create(config: TaskConfig, program: ShimProgram, signal: AbortSignal): Promise<number> {
    const undo = new Undo();
    undo.add('remove the incomplete task', () => this.#remove(config.id));
    try {
      const create = () => createShimTask(this.#dependencies, { config, program }, signal);
      const task = await this.#groups.run(groupOf(config) || config.id, create);
      this.#tasks.set(config.id, task);
      task.watch();
      return task.record.pid!;
    } catch (error) {
      const failures = await undo.run();
      const fields = { task: config.id, error: describeUndoFailures(failures) };
      if (failures.length > 0) this.#options.logger.error(fields, 'cannot clean up after a failed create');
      throw error;
    }
  }

  async #remove(id: string): Promise<void> {
    const { files, oomKilled } = this.#dependencies;
    const record = await files.read(id);
    if (record === undefined) return;
    const exit = await this.#groups.run(record.group || id, async () => {
      const lastOfPod = record.group === '' || !(await files.hasOther(record));
      return await deleteShimTask(this.#dependencies, { record, task: this.#tasks.get(id), lastOfPod });
    });
    this.#tasks.delete(id);
    oomKilled.delete(id);
    this.#settle(id, exit);
  }

  #settle(id: string, exit: TaskExit): void {
    const listeners = this.#listeners.get(id);
    this.#listeners.delete(id);
    for (const listener of listeners ?? []) listener(exit);
  }

  async #killByShim(task: ShimTask, signal: number, all: boolean): Promise<void> {
    const { id } = task.record;
    try {
      await callShim(`kill task ${id}`, task.shim.tasks.kill({ id, signal, all }));
    } catch (error) {
      if (!isEnded(error)) throw error;
    }
  }

  /** Returns the task with its record and shim. Throws `failed_precondition` if the task's state is not one of `states`. */
  async #get(id: string, verb: string, states: TaskState['status'][]) {
    const record = await this.#dependencies.files.get(id);
    const { status } = await this.state(id);
    const task = this.#tasks.get(id);
    if (task === undefined || !states.includes(status))
      throw new PodwrightError(
        'failed_precondition',
        `${verb} task ${id}: it is ${status}, not ${states.join(' or ')}`,
      );
    return { task, record, shim: task.shim };
  }

  #execParts(shim: Shim, record: ShimTaskRecord) {
    return { shim, record, system: this.#dependencies.system };
  }
}

/** Wraps an exec as a session. Aborting the signal kills the exec. */
function execSession(exec: ShimExec, signal: AbortSignal, logger: Logger): ExecSession {
  const stop = async () => {
    exec.stdin?.destroy();
    await killExec(exec.running(logger));
    await exec.exited;
    await sleep(EXEC_DRAIN_MS);
    exec.close(); // no reader remains for unread output
  };
  const onAbort = () => background(logger, 'a command could not be ended', stop());
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  const exit = exec.exited.then((exitCode) => {
    signal.removeEventListener('abort', onAbort);
    return { exitCode };
  });
  const resize = oneSizeAtATime((columns, rows) => exec.resize(columns, rows));
  return { stdin: exec.stdin!, stdout: exec.stdout, stderr: exec.stderr, resize, exit };
}
