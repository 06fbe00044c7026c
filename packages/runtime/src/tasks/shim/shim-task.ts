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
  /** Limits the number of concurrently written logs. */
  logWriters: Limiter;
  /** IDs of the tasks for which a shim has reported an OOM event. */
  oomKilled: Set<string>;
  onExit(id: string, exit: TaskExit): void;
};

/** A task's exit as reported by its shim. */
type Ending = Omit<TaskExit, 'oomKilled'>;

/** A task whose exit has not been recorded yet, with its stdio and the connection to its shim. */
export class ShimTask {
  readonly record: ShimTaskRecord;
  readonly io: TaskIo;
  /** Settles once the end of stdin has been recorded and the shim has closed stdin. */
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

  /** The connection to the shim. Throws `unavailable` if the shim has exited. */
  get shim(): Shim {
    if (this.#shim?.isOpen !== true)
      throw new PodwrightError('unavailable', `the shim of task ${this.record.id} has exited`);
    return this.#shim;
  }

  /** Starts waiting for the task to exit. Must be called once, after the shim has created the task or has exited. */
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

  /** Resolves with the task's exit after the remaining output has been logged and the exit has been recorded. Rejects if this fails. */
  get ended(): Promise<TaskExit> {
    return this.#ended.promise;
  }

  /** Queries the shim for the task's state. If the task or its shim has exited, waits for the exit to be recorded. */
  async state(): Promise<TaskState> {
    const { id, pid } = this.record;
    const ask = async () => await this.shim.tasks.state({ id }, { timeoutMs: STATE_TIMEOUT_MS });
    const answer = await ask().catch((error) => {
      if (this.hasShim) throw error;
    });
    if (answer?.status === Status.CREATED) return { status: 'created', pid: pid! };
    if (answer !== undefined && answer.status !== Status.STOPPED) return { status: 'running', pid: pid! };
    if (answer !== undefined) this.end(endingOf(answer)); // if the call fails, `watch` may get the exit later
    return { status: 'exited', exit: await raceAbort(this.ended, AbortSignal.timeout(END_TIMEOUT_MS)) };
  }

  /** Processes the remaining output, then records the task's exit. */
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

  /** Closes the task's streams but leaves the task running. */
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
   * Whether the OOM killer killed any of the task's processes, according to the kernel's counter for a cgroup on the host, or to a shim
   * event for a task in a virtual machine.
   */
  #wasOomKilled(): boolean {
    const { oomKilled, cgroups } = this.#dependencies;
    return oomKilled.has(this.record.id) || readOomKills(cgroups, this.record.cgroupsPath) > 0;
  }

  /** Cleans up after a dead shim. The task's processes are killed, because their stdio is broken and their exits would not be reported. */
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

  /**
   * Records the end of the task's stdin, and has the shim close it too: as long as the shim has the FIFO open, the task does not see the
   * end.
   */
  async #endStdin(): Promise<void> {
    this.record.stdinEnded = true;
    await this.#dependencies.files.write(this.record);
    await this.shim.tasks.closeIO({ id: this.record.id, stdin: true });
  }
}

/**
 * Has a dead shim's binary clean up after its task. This fails if the shim never began to create the task, or if it has been uninstalled.
 * In that case, the task's processes can only be killed through its cgroup on the host.
 */
export async function removeLostTask({ shims, logger }: ShimTaskDependencies, record: ShimTaskRecord): Promise<void> {
  const { id, bundle, program, pid } = record;
  await shims.cleanUp({ id, bundle, program }).catch((error) => {
    if (pid !== undefined && !isNotFound(error)) throw error;
    logger.warn({ task: id, error: errorMessage(error) }, 'cannot clean up after a shim');
  });
}

/**
 * Adopts a task from before the restart: waits for its exit, serves its stdio, and kills execs whose clients were disconnected by the
 * restart. Returns `undefined` if the task's exit is already recorded, or if the task was never created.
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
    return undefined; // the task then counts as lost
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

/** Derives a task's stdio options from its record. Does not open the log. */
export function ioOptions({ logger, logWriters }: ShimTaskDependencies, record: ShimTaskRecord): TaskIoOptions {
  const { bundle, terminal, stdinOnce, logPath } = record;
  const stdin = record.stdin && record.stdinEnded !== true;
  const log = logPath === '' ? undefined : new CriLog(logPath, { logger, writers: logWriters });
  return { directory: join(bundle, 'io'), terminal, stdin, stdinOnce, log };
}

/** Extracts a task's exit from its shim's response. */
export function endingOf({ exitStatus, exitedAt }: Pick<WaitResponse, 'exitStatus' | 'exitedAt'>): Ending {
  return { exitCode: exitStatus, exitedAtMs: exitedAt === undefined ? Date.now() : timestampMs(exitedAt) };
}
