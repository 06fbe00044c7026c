import { join } from 'node:path';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import {
  errorCode,
  errorMessage,
  isNotFound,
  type Limiter,
  type Logger,
  PodwrightError,
  raceAbort,
} from '@podwright/base';
import { type CgroupHierarchy, killCgroup, readOomKills } from '@podwright/host';
import { type Shim, type Shims, Status, type WaitResponse } from '@podwright/shim';
import type { System } from '@podwright/system';
import { KILLED_EXIT_CODE } from '../task-exit.ts';
import type { TaskExit, TaskState } from '../task-runtime.ts';
import { CriLog } from './cri-log.ts';
import { END_TIMEOUT_MS, STATE_TIMEOUT_MS } from './limits.ts';
import { isEnded } from './shim-error.ts';
import { endEarlierExecs } from './shim-exec.ts';
import type { ShimTaskFiles, ShimTaskRecord } from './shim-task-files.ts';
import { TaskIo, type TaskIoOptions } from './task-io.ts';

export type ShimTaskDependencies = {
  shims: Shims;
  files: ShimTaskFiles;
  system: System;
  cgroups: CgroupHierarchy;
  logger: Logger;
  /** Limits how many logs are written concurrently. */
  logWriters: Limiter;
  /** Ids of tasks with an OOM event from their shim. */
  oomKilled: Set<string>;
  onExit(id: string, exit: TaskExit): void;
};

/** A task's exit as reported by its shim. */
type Ending = Omit<TaskExit, 'oomKilled'>;

/** A task whose exit is not recorded yet, with the connection to its shim and its stdio. */
export class ShimTask {
  readonly record: ShimTaskRecord;
  readonly io: TaskIo;
  /** Settles when the end of stdin is in the record and the shim has closed stdin. */
  stdinEnded: Promise<void> = Promise.resolve();
  readonly #shim: Shim | undefined;
  readonly #dependencies: ShimTaskDependencies;
  readonly #ended = Promise.withResolvers<TaskExit>();
  #closed = false;
  #ending = false;

  constructor(
    dependencies: ShimTaskDependencies,
    parts: { record: ShimTaskRecord; shim: Shim | undefined; io: TaskIo },
  ) {
    this.#dependencies = dependencies;
    this.record = parts.record;
    this.#shim = parts.shim;
    this.io = parts.io;
    this.io.onStdinEnd = () => {
      this.stdinEnded = this.#endStdin().catch((error) => {
        if (!isEnded(error))
          dependencies.logger.warn(
            { task: this.record.id, error: errorMessage(error) },
            'cannot close the stdin of a task',
          );
      });
    };
  }

  /** Whether the shim is alive. */
  get hasShim(): boolean {
    return this.#shim?.isOpen === true;
  }

  /** Throws `unavailable` once the shim has exited. */
  get shim(): Shim {
    if (this.#shim?.isOpen !== true)
      throw new PodwrightError('unavailable', `the shim of task ${this.record.id} has exited`);
    return this.#shim;
  }

  /** Starts waiting for the exit. Call it once, when the shim has created the task or has exited. */
  watch(): void {
    const { id } = this.record;
    const ended = async () => await this.shim.tasks.wait({ id }, { timeoutMs: 0 });
    ended().then(
      (answer) => {
        if (!this.#closed) this.end(endingOf(answer));
      },
      (error) => {
        if (!this.#closed && !this.#ending) this.end(this.#lost(error));
      },
    );
  }

  /** Settles with the task's exit once the last output is logged and the exit is recorded. Rejects if that fails. */
  get ended(): Promise<TaskExit> {
    return this.#ended.promise;
  }

  /** Gets the state from the shim. If the task or its shim has exited, waits until the exit is recorded. */
  async state(): Promise<TaskState> {
    const { id, pid } = this.record;
    const ask = async () => await this.shim.tasks.state({ id }, { timeoutMs: STATE_TIMEOUT_MS });
    const answer = await ask().catch((error) => {
      if (this.hasShim) throw error;
    });
    if (answer?.status === Status.CREATED) return { status: 'created', pid: pid! };
    if (answer !== undefined && answer.status !== Status.STOPPED) return { status: 'running', pid: pid! };
    if (answer !== undefined) this.end(endingOf(answer)); // `watch` may get it later
    return { status: 'exited', exit: await raceAbort(this.ended, AbortSignal.timeout(END_TIMEOUT_MS)) };
  }

  /** Processes the last output and records the task's exit. */
  end(how: Ending | Promise<Ending>): void {
    if (this.#ending) return;
    this.#ending = true;
    this.#end(how).then(this.#ended.resolve, this.#ended.reject);
    this.#ended.promise.catch((error) => {
      if (!this.#closed)
        this.#dependencies.logger.error(
          { task: this.record.id, error: errorMessage(error) },
          'cannot record the exit of a task',
        );
    });
  }

  /** Closes the task's streams; the task continues. */
  close(): void {
    this.#closed = true;
    this.io.close();
  }

  async #end(how: Ending | Promise<Ending>): Promise<TaskExit> {
    const { files, onExit } = this.#dependencies;
    const ended = await how;
    if (!(await this.io.finish()))
      this.#dependencies.logger.warn(
        { task: this.record.id },
        'dropped the last output of a task: its log cannot be written',
      );
    if (this.#closed) throw new PodwrightError('cancelled', `end task ${this.record.id}: it was closed meanwhile`);
    const exit = { ...ended, oomKilled: this.#wasOomKilled() };
    this.record.exit = exit;
    await files.write(this.record);
    onExit(this.record.id, exit);
    return exit;
  }

  /**
   * Whether the OOM killer killed a process of the task. If the cgroup is on the host, the kernel's counter shows it; if the task is in a
   * virtual machine, an event of the shim does.
   */
  #wasOomKilled(): boolean {
    const { oomKilled, cgroups } = this.#dependencies;
    return oomKilled.has(this.record.id) || readOomKills(cgroups, this.record.cgroupsPath) > 0;
  }

  /** Cleans up after a dead shim, whose processes have broken stdio and whose exits would not be reported. */
  async #lost(error: unknown): Promise<Ending> {
    const { cgroups, logger } = this.#dependencies;
    const { id } = this.record;
    logger.warn({ task: id, error: errorMessage(error) }, 'the shim of a task died');
    await removeLostTask(this.#dependencies, this.record).catch((reason) =>
      logger.error({ task: id, error: errorMessage(reason) }, 'cannot clean up after a dead shim'),
    );
    await killCgroup(cgroups, this.record.cgroupsPath);
    const message = 'the shim of the container died, so the container was killed; how it ended is unknown';
    return { exitCode: KILLED_EXIT_CODE, exitedAtMs: Date.now(), message };
  }

  /** Records the end of stdin and closes it in the shim, which also has the FIFO open. */
  async #endStdin(): Promise<void> {
    this.record.stdinEnded = true;
    await this.#dependencies.files.write(this.record);
    await this.shim.tasks.closeIO({ id: this.record.id, stdin: true });
  }
}

/**
 * Makes a dead shim's binary clean up after its task. That fails if the shim never began to create the task, or if the shim has been
 * uninstalled; then only the task's processes in its cgroup on the host can be killed.
 */
export async function removeLostTask({ shims, logger }: ShimTaskDependencies, record: ShimTaskRecord): Promise<void> {
  const { id, bundle, program, pid } = record;
  await shims.cleanUp({ id, bundle, program }).catch((error) => {
    if (pid !== undefined && !isNotFound(error)) throw error;
    logger.warn({ task: id, error: errorMessage(error) }, 'cannot clean up after a shim');
  });
}

/**
 * Takes over a task from before the restart: waits for its exit, serves its stdio, and kills the commands that ran in it for
 * clients of the earlier process. `undefined` if its exit is recorded, or it was never created.
 */
export async function adoptTask(
  dependencies: ShimTaskDependencies,
  record: ShimTaskRecord,
): Promise<ShimTask | undefined> {
  const { holder, exit, pid } = record;
  if (holder === undefined || exit !== undefined || pid === undefined) return undefined;
  const options = ioOptions(dependencies, record);
  await options.log?.reopen().catch((error) => {
    const fields = { task: record.id, log: record.logPath, error: errorMessage(error) };
    dependencies.logger.warn(fields, 'cannot open the log of a task: it has no log until the log is reopened');
  });
  const io = new TaskIo(options, holder);
  const shim = await dependencies.shims.load(record.bundle).catch((error) => {
    if (errorCode(error) !== 'data_loss') throw error;
    dependencies.logger.error({ task: record.id, error: errorMessage(error) }, 'cannot find the shim of a task');
    return undefined; // its task is lost
  });
  if (shim !== undefined)
    await endEarlierExecs(shim, record).catch((error) =>
      dependencies.logger.error(
        { task: record.id, error: errorMessage(error) },
        'cannot end commands from before the restart',
      ),
    );
  const task = new ShimTask(dependencies, { record, shim, io });
  task.watch();
  return task;
}

/** Stdio options of a task from its record; the log is not open yet. */
export function ioOptions({ logger, logWriters }: ShimTaskDependencies, record: ShimTaskRecord): TaskIoOptions {
  const { bundle, terminal, stdinOnce, logPath } = record;
  const stdin = record.stdin && record.stdinEnded !== true;
  const log = logPath === '' ? undefined : new CriLog(logPath, { logger, writers: logWriters });
  return { directory: join(bundle, 'io'), terminal, stdin, stdinOnce, log };
}

/** A task's exit, from its shim's reply. */
export function endingOf({ exitStatus, exitedAt }: Pick<WaitResponse, 'exitStatus' | 'exitedAt'>): Ending {
  return { exitCode: exitStatus, exitedAtMs: exitedAt === undefined ? Date.now() : timestampMs(exitedAt) };
}
