import { rmSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import {
  describeUndoFailures,
  KeyedLock,
  type Logger,
  makePrivateDirectory,
  PodwrightError,
  type TraceWork,
  Undo,
  untraced,
  withTimeout,
} from '@podwright/base';
import {
  type CgroupHierarchy,
  cgroupPids,
  countCgroupProcesses,
  type ProgramStarter,
  pathExists,
  startByFork,
  thawForKill,
} from '@podwright/host';
import type { OciLinuxResources } from '@podwright/oci';
import { loadSystem, signalNumber, signalProcess } from '@podwright/system';
import { fastOci, type OciFastPaths } from '../../oci-runtime/oci-fast-paths.ts';
import { type OciProgram, startTask } from '../../oci-runtime/oci-program.ts';
import type { ThrowAway } from '../../oci-runtime/state-files.ts';
import { checkTaskConfig } from '../check-task-config.ts';
import { START_TIMEOUT_MS } from '../limits.ts';
import type {
  ExecConfig,
  ExecSession,
  ExecSyncOptions,
  TaskCheckpoint,
  TaskConfig,
  TaskExit,
  TaskRuntime,
  TaskState,
} from '../task-runtime.ts';
import { TaskAttachments } from './attach.ts';
import { prepareMonitorLog, reopenMonitorLog } from './control.ts';
import type { ExecRequest } from './exec-process.ts';
import { execSync } from './exec-process.ts';
import { ExecStarts } from './exec-starts.ts';
import { execStream } from './exec-stream.ts';
import { ExitFileWatch, type TaskCheck } from './exit-file-watch.ts';
import { rebuildDamagedRecords } from './rebuild-record.ts';
import { takeOverTasks } from './take-over.ts';
import { checkpointTask, thawTask } from './task-checkpoint.ts';
import { createTask } from './task-create.ts';
import { deleteTask } from './task-delete.ts';
import { BUNDLE_FILES, TaskFiles, type TaskRecord } from './task-files.ts';
import { endUnmonitoredTask, findTaskProcess, isLogInPlace, readMonitorPid, readTaskState } from './task-state.ts';
import { updateTask } from './task-update.ts';

export type OciTaskRuntimeOptions = {
  /** The task runtime's own directory, on a file system that is emptied on reboot. */
  state: string;
  /** Path of the conmon program. */
  conmon: string;
  /** The OCI runtime for the runtime handler '' and for those without an entry in `handlers`. */
  program: OciProgram;
  /** OCI runtimes by runtime handler. Programs with the same `name` share a state directory. */
  handlers: Record<string, OciProgram>;
  cgroups: CgroupHierarchy;
  logger: Logger;
  /** Starts the programs: conmon, and the OCI runtime for commands in tasks. */
  start?: ProgramStarter;
  /** Moves directories out of `state`, to be removed later. Default: they are removed immediately. */
  throwAway?: ThrowAway;
  trace?: TraceWork;
  /** The shortcuts that bypass OCI runtimes. Default: all. */
  fastPaths?: OciFastPaths;
};

/**
 * Runs tasks with runc, crun or another OCI runtime, each monitored by its own conmon. All task state is in files and in the kernel, so
 * tasks outlive this process and are adopted after a restart.
 */
export class OciTaskRuntime implements TaskRuntime {
  readonly name = 'oci';
  readonly #options: OciTaskRuntimeOptions;
  readonly #files: TaskFiles;
  readonly #start: ProgramStarter;
  readonly #trace: TraceWork;
  readonly #exits: ExitFileWatch;
  readonly #filters: ReturnType<OciFastPaths['seccompFilters']>;
  readonly #system = loadSystem();
  readonly #attachments = new TaskAttachments();
  readonly #execStarts = new ExecStarts();
  readonly #changes = new KeyedLock();
  /** Serializes killing tasks whose monitor has died. */
  readonly #endings = new KeyedLock();
  /** Aborts calls in progress when the task runtime is closed. */
  readonly #closed = new AbortController();

  private constructor(options: OciTaskRuntimeOptions, files: TaskFiles) {
    this.#options = options;
    this.#files = files;
    const { start = startByFork, cgroups, fastPaths = fastOci } = options;
    this.#start = fastPaths.starter(start, cgroups);
    this.#filters = fastPaths.seccompFilters();
    this.#trace = options.trace ?? untraced;
    this.#exits = new ExitFileWatch({ directory: files.exits, logger: options.logger, check: (id) => this.#find(id) });
  }

  static async open(options: OciTaskRuntimeOptions): Promise<OciTaskRuntime> {
    const files = new TaskFiles(options.state, options.fastPaths);
    for (const directory of [files.records, files.exits, files.execs, files.bundles]) makePrivateDirectory(directory);
    await rebuildDamagedRecords(files, [options.program, ...Object.values(options.handlers)], options.logger);
    await takeOverTasks({ files, cgroups: options.cgroups }, options.logger);
    return new OciTaskRuntime(options, files);
  }

  async create(config: TaskConfig, signal: AbortSignal): Promise<{ pid: number }> {
    checkTaskConfig(config);
    signal.throwIfAborted();
    return await this.#changes.run(config.id, async () => {
      if (this.#files.read(config.id) !== undefined)
        throw new PodwrightError('already_exists', `create task ${config.id}: the id is in use`);
      const undo = new Undo();
      undo.add('remove the incomplete task', () => this.#remove(config.id));
      try {
        const program = this.#program(config.handler);
        const { conmon, logger } = this.#options;
        const namespaces = { system: this.#system, logger };
        const own = { start: this.#start, files: this.#files, filters: this.#filters, trace: this.#trace };
        const tools = { ...own, conmon, namespaces };
        return { pid: await createTask({ ...tools, program }, config, signal) };
      } catch (error) {
        const failures = await undo.run();
        if (failures.length > 0)
          this.#options.logger.error(
            { task: config.id, error: describeUndoFailures(failures) },
            'cannot clean up after a failed create',
          );
        throw error;
      }
    });
  }

  async start(id: string): Promise<void> {
    await this.#changes.run(id, async () => {
      const record = await this.#get(id, 'start', ['created']);
      using signal = withTimeout(this.#closed.signal, START_TIMEOUT_MS, `start task ${id}`);
      const alive = () => findTaskProcess(record) !== undefined;
      const request = { id, hooks: record.hooks, alive, signal };
      await this.#trace(`${record.program.name} start`, () => startTask(this.#files.runtime(record.program), request));
    });
  }

  async kill(id: string, signal: string, options: { all?: boolean } = {}): Promise<void> {
    const number = signalNumber(signal);
    const record = this.#files.get(id);
    const first = findTaskProcess(record);
    if (first !== undefined) signalProcess(first, number);
    if (options.all) for (const pid of await this.#pids(record)) if (pid !== first) signalProcess(pid, number);
    if (number === constants.signals.SIGKILL) thawForKill(this.#options.cgroups, record.cgroupsPath);
  }

  async state(id: string): Promise<TaskState> {
    const record = this.#files.read(id);
    return record === undefined ? { status: 'absent' } : await this.#state(record);
  }

  onExit(id: string, listener: (exit: TaskExit) => void): Disposable {
    return this.#exits.add(id, listener);
  }

  async delete(id: string): Promise<void> {
    await this.#changes.run(id, () => this.#remove(id));
  }

  async isEmpty(id: string): Promise<boolean> {
    const record = this.#files.read(id);
    return record === undefined || countCgroupProcesses(this.#options.cgroups, record.cgroupsPath) === 0;
  }

  async execSync(id: string, command: string[], options: ExecSyncOptions) {
    const record = await this.#get(id, 'run a command in', ['running']);
    const request = this.#execRequest(record, command);
    return await this.#trace(`${record.program.name} exec`, () => execSync(request, options));
  }

  async exec(id: string, { command, terminal, terminalName, signal }: ExecConfig): Promise<ExecSession> {
    const record = await this.#get(id, 'run a command in', ['running']);
    const tools = { conmon: this.#options.conmon, sockets: this.#attachments.sockets };
    const request = { ...this.#execRequest(record, command), terminalName };
    using _starting = await this.#execStarts.enter(id, signal);
    return await execStream(request, { terminal: terminal ? tools : undefined, signal });
  }

  async attach(
    id: string,
    signal: AbortSignal,
    { stdin = true }: { stdin?: boolean } = {},
  ): Promise<Omit<ExecSession, 'exit'>> {
    const record = await this.#get(id, 'attach to', ['created', 'running']);
    const pid = () => findTaskProcess(record);
    const hasExited = () => pid() === undefined;
    return this.#attachments.attach(record, { stdin, signal, system: this.#system, pid, hasExited });
  }

  /**
   * Makes conmon reopen the log file. There is no need to wait for this: until then, output goes to the old file, even if that was renamed.
   * If the new file cannot be created, rejects, and conmon keeps writing to the old file.
   */
  async reopenLog(id: string, logPath: string): Promise<void> {
    const record = this.#files.get(id);
    if (await isLogInPlace(record, logPath)) return;
    if (logPath !== '') await prepareMonitorLog(logPath);
    reopenMonitorLog(record);
  }

  async update(id: string, resources: OciLinuxResources): Promise<void> {
    await this.#changes.run(id, async () => {
      const record = await this.#get(id, 'update', ['created', 'running']);
      const { cgroups } = this.#options;
      await updateTask({ runtime: this.#files.runtime(record.program), cgroups }, record, resources);
    });
  }

  async checkpoint(id: string, checkpoint: TaskCheckpoint): Promise<void> {
    await this.#changes.run(id, async () => {
      const record = await this.#get(id, 'checkpoint', ['running']);
      await checkpointTask(this.#files.runtime(record.program), id, checkpoint);
    });
  }

  async thaw(id: string): Promise<void> {
    await this.#changes.run(id, async () => {
      const record = await this.#get(id, 'thaw', ['created', 'running']);
      await thawTask(this.#files.runtime(record.program), id);
    });
  }

  async list(): Promise<string[]> {
    return await this.#files.list();
  }

  async has(id: string): Promise<boolean> {
    return await pathExists(this.#files.record(id));
  }

  close(): void {
    this.#closed.abort(new PodwrightError('unavailable', 'the task runtime is closing'));
    this.#exits.close();
    this.#attachments.close();
  }

  async #pids({ cgroupsPath }: TaskRecord): Promise<number[]> {
    return await cgroupPids(this.#options.cgroups, cgroupsPath, { recursive: true, controller: 'pids' });
  }

  async #find(id: string): Promise<TaskCheck> {
    const record = this.#files.read(id);
    if (record === undefined) return { monitorPid: undefined };
    const state = await this.#state(record);
    return state.status === 'exited' ? { exit: state.exit } : { monitorPid: readMonitorPid(record) };
  }

  /** Returns the task's state, after killing the task if its monitor has died. */
  async #state(record: TaskRecord): Promise<TaskState> {
    const dependencies = { files: this.#files, cgroups: this.#options.cgroups };
    const found = await readTaskState(dependencies, record);
    if (found.status !== 'unmonitored') return found;
    return await this.#endings.run(record.id, () => endUnmonitoredTask(dependencies, record));
  }

  async #remove(id: string): Promise<void> {
    const record = this.#files.read(id);
    if (record === undefined) return;
    const { cgroups, throwAway = removeAtOnce } = this.#options;
    const remove = () => deleteTask({ files: this.#files, cgroups, throwAway }, record);
    const exit = await this.#trace(`${record.program.name} delete`, remove);
    this.#exits.settle(id, exit);
  }

  /** Returns the task's record. Throws `failed_precondition` if the task's state is not one of `states`. */
  async #get(id: string, verb: string, states: TaskState['status'][]): Promise<TaskRecord> {
    const record = this.#files.get(id);
    const { status } = await this.#state(record);
    if (!states.includes(status))
      throw new PodwrightError(
        'failed_precondition',
        `${verb} task ${id}: it is ${status}, not ${states.join(' or ')}`,
      );
    return record;
  }

  #execRequest(record: TaskRecord, command: string[]): ExecRequest {
    const { id, program, bundle } = record;
    const config = join(bundle, BUNDLE_FILES.config);
    const runtime = this.#files.runtime(program);
    return {
      start: this.#start,
      runtime,
      pidFile: this.#files.newExec(id),
      id,
      command,
      config,
      system: this.#system,
      logger: this.#options.logger,
    };
  }

  #program(handler: string): OciProgram {
    return this.#options.handlers[handler] ?? this.#options.program;
  }
}

function removeAtOnce(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
}
