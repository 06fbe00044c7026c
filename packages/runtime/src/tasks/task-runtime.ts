import type { Readable, Writable } from 'node:stream';
import type { CgroupStats } from '@podwright/host';
import type { OciLinuxResources, OciSpec } from '../oci/spec.ts';

/** Configuration of a task. The caller has committed the bundle, and mounted the root file system at `spec.root.path`. */
export type TaskConfig = {
  id: string;
  /**
   * The caller's directory with the committed `config.json` (`commitSpec`). The task runtime reads it when it creates the task and for each
   * exec. It never writes or removes anything there, because its own files are in other directories.
   */
  bundle: string;
  /** The content of `config.json`. */
  spec: OciSpec;
  terminal: boolean;
  stdin: boolean;
  /** Whether stdin is closed after the first attach session that used it. */
  stdinOnce: boolean;
  /** CRI log file; '' for none. */
  logPath: string;
  /** The runtime handler, which selects the OCI runtime; '' for the default. */
  handler: string;
};

/** The exit of a process. `oomKilled`: the OOM killer killed a process of the task, regardless of the exit code. */
export type TaskExit = {
  exitCode: number;
  exitedAtMs: number;
  oomKilled: boolean;
  /** A message for users if the exit code is not the process's own, for example because its monitor died. */
  message?: string;
};

export type TaskState =
  | { status: 'created' | 'running'; pid: number }
  | { status: 'exited'; exit: TaskExit }
  | { status: 'absent' };

/** A process to run in a task, in addition to its first one. */
export type ExecConfig = {
  command: string[];
  terminal: boolean;
  /** TERM for a command on a terminal, unless the task sets its own. Default: xterm. */
  terminalName?: string;
  /** An abort kills the process. Environment and working directory are the task's. */
  signal: AbortSignal;
};

/**
 * The streams of a process. With a terminal, stderr is absent. Unread output blocks the process, so streams that are not needed must be
 * resumed.
 */
export type ExecSession = {
  stdin: Writable;
  stdout: Readable;
  stderr: Readable | undefined;
  resize(columns: number, rows: number): void;
  exit: Promise<{ exitCode: number }>;
};

/**
 * Directories for a task's checkpoint: CRIU's images of its memory, and CRIU's log and statistics. `frozen` is called while the task is
 * frozen, to save other state as of the same moment.
 */
export type TaskCheckpoint = { images: string; work: string; frozen: () => Promise<void>; signal: AbortSignal };

/**
 * Runs containers. Tasks outlive this process: after a restart `state` and `onExit` work for earlier tasks, and stopping or deleting a task
 * needs no state in memory.
 *
 * Errors: `not_found` (no such task, or a command that is not in the image; with the OCI runtime's message), `already_exists`,
 * `failed_precondition` (not running), `deadline_exceeded`, `internal`.
 */
export interface TaskRuntime {
  readonly name: string;
  /**
   * Creates the task's process, which waits for `start` before it runs the program, and returns its pid. Leaves nothing behind on failure.
   */
  create(config: TaskConfig, signal: AbortSignal): Promise<{ pid: number }>;
  start(id: string): Promise<void>;
  /**
   * Sends a signal to the task's first process, or with `all` to all of its processes. No error if the task has exited. SIGKILL also ends
   * frozen processes.
   */
  kill(id: string, signal: string, options?: { all?: boolean }): Promise<void>;
  /** The task's state. A task whose monitor or shim died without reporting an exit is killed first, because its stdio is broken. */
  state(id: string): Promise<TaskState>;
  /** Calls `listener` once when the task has exited, immediately if it already has. Also calls it after the task's monitor has died. */
  onExit(id: string, listener: (exit: TaskExit) => void): Disposable;
  /**
   * Kills the task, and removes all of its processes, cgroups and files. The bundle stays, and the task can be created from it again. No
   * error if there is no such task.
   */
  delete(id: string): Promise<void>;
  /** Whether the task has no processes left, only files and cgroups. Optional, because not all runtimes can detect it. */
  isEmpty?(id: string): Promise<boolean>;
  /** Runs a command until it exits; an abort kills it. stdout and stderr are each truncated at 16 MiB. */
  execSync(
    id: string,
    command: string[],
    signal: AbortSignal,
  ): Promise<{ stdout: Buffer; stderr: Buffer; exitCode: number }>;
  exec(id: string, config: ExecConfig): Promise<ExecSession>;
  /**
   * Connects to the stdio of the task's first process. With `stdin: false` (default: true) stdin is not used and stays open when
   * the session ends.
   */
  attach(id: string, signal: AbortSignal, options?: { stdin?: boolean }): Promise<Omit<ExecSession, 'exit'>>;
  /** Makes the monitor close its log file and reopen `logPath`, which must be the path passed to `create`. */
  reopenLog(id: string, logPath: string): Promise<void>;
  update(id: string, resources: OciLinuxResources): Promise<void>;
  /** Checkpoints a running task, which continues afterwards. Needs CRIU. Optional, because not all runtimes support it. */
  checkpoint?(id: string, checkpoint: TaskCheckpoint): Promise<void>;
  /** Thaws a task that an interrupted checkpoint left frozen. No error for a task that is not frozen. */
  thaw?(id: string): Promise<void>;
  /**
   * Asks the runtime for the task's resource usage, for tasks without a cgroup on the host, such as tasks in virtual machines. Returns
   * `undefined` if the task is not running or is not measured.
   */
  use?(id: string): Promise<CgroupStats | undefined>;
  /** Ids of all tasks that have any resource on the host: monitor, files, runtime state. */
  list(): Promise<string[]>;
  /** Whether `list` includes the id, without the cost of listing all tasks. Optional. */
  has?(id: string): Promise<boolean>;
  /** Stops watching and listening; tasks keep running. */
  close(): void;
}
