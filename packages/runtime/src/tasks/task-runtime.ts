import type { Readable, Writable } from 'node:stream';
import type { ByteShare } from '@podwright/base';
import type { CgroupStats } from '@podwright/host';
import type { OciLinuxResources, OciSpec } from '@podwright/oci';

/** Configuration of a task. The caller has committed the bundle, and mounted the root file system at `spec.root.path`. */
export type TaskConfig = {
  id: string;
  /**
   * The caller's directory with the committed `config.json` (`commitSpec`). The task runtime reads that file when it creates the task and
   * on every exec, but never writes or removes anything there; its own files are elsewhere.
   */
  bundle: string;
  /** The contents of `config.json`. */
  spec: OciSpec;
  terminal: boolean;
  stdin: boolean;
  /** Whether stdin is closed after the first attach session that used it. */
  stdinOnce: boolean;
  /** Path of the CRI log file; '' for no log. */
  logPath: string;
  /** The runtime handler, which selects the OCI runtime; '' for the default. */
  handler: string;
};

/** How a process exited. `oomKilled`: whether the OOM killer killed any of the task's processes, regardless of the exit code. */
export type TaskExit = {
  exitCode: number;
  exitedAtMs: number;
  oomKilled: boolean;
  /** User-facing explanation. Set if the exit code is not the process's own, for example because its monitor died. */
  message?: string;
};

export type TaskState =
  | { status: 'created' | 'running'; pid: number }
  | { status: 'exited'; exit: TaskExit }
  | { status: 'absent' };

/** An additional process to run in a task. */
export type ExecConfig = {
  command: string[];
  terminal: boolean;
  /** TERM for a command on a terminal, unless set by the task. Default: xterm. */
  terminalName?: string;
  /** Aborting this signal kills the process. The process runs with the task's environment and working directory. */
  signal: AbortSignal;
};

/**
 * A process's streams. A terminal has no stderr. Unread output blocks a command, so the caller must resume streams that it does not need.
 * The end of a task is never delayed by unread output.
 */
export type ExecSession = {
  stdin: Writable;
  stdout: Readable;
  stderr: Readable | undefined;
  resize(columns: number, rows: number): void;
  exit: Promise<{ exitCode: number }>;
};

/**
 * Directories for a task's checkpoint: `images` for CRIU's memory images, `work` for CRIU's log and statistics. `frozen` is called while
 * the task is frozen, to save other state consistently.
 */
export type TaskCheckpoint = { images: string; work: string; frozen: () => Promise<void>; signal: AbortSignal };

/** Options for running a command until it exits. Aborting `signal` kills the command. */
export type ExecSyncOptions = {
  signal: AbortSignal;
  /** Number of bytes at which stdout and stderr are each truncated. Default and maximum: 16 MiB. */
  maxOutputBytes?: number;
  /** Memory budget for output beyond the first 4 KiB of each stream. When it is exhausted, the output is truncated. */
  memory?: Pick<ByteShare, 'reserve'>;
};

/**
 * Runs containers. Tasks outlive this process: after a restart, `state` and `onExit` also work for earlier tasks, and stopping or deleting
 * a task needs no in-memory state.
 *
 * Errors: `not_found` (no such task, or the command is not in the image; the message is the OCI runtime's), `already_exists`,
 * `failed_precondition` (not running), `deadline_exceeded`, `internal`.
 */
export interface TaskRuntime {
  readonly name: string;
  /**
   * Creates the task's process and returns its PID. The process waits for `start` before it runs the program. Leaves nothing behind on
   * failure.
   */
  create(config: TaskConfig, signal: AbortSignal): Promise<{ pid: number }>;
  start(id: string): Promise<void>;
  /**
   * Sends a signal to the task's first process or, if `all` is set, to all of its processes. Succeeds if the task has exited. SIGKILL also
   * kills frozen processes.
   */
  kill(id: string, signal: string, options?: { all?: boolean }): Promise<void>;
  /** Returns the task's state. A task whose monitor or shim died without reporting an exit is killed first, because its stdio is broken. */
  state(id: string): Promise<TaskState>;
  /** Calls `listener` when the task exits, or immediately if it already has. Also called if the task's monitor dies. */
  onExit(id: string, listener: (exit: TaskExit) => void): Disposable;
  /**
   * Kills the task, and removes all of its processes, cgroups and files. The bundle stays in place, and can be used to create the task
   * again. Succeeds if the task does not exist.
   */
  delete(id: string): Promise<void>;
  /** Whether the task has no processes left, only files and cgroups. Optional, because not all runtimes can determine this. */
  isEmpty?(id: string): Promise<boolean>;
  /** Runs a command until it exits, and returns its output. */
  execSync(
    id: string,
    command: string[],
    options: ExecSyncOptions,
  ): Promise<{ stdout: Buffer; stderr: Buffer; exitCode: number }>;
  exec(id: string, config: ExecConfig): Promise<ExecSession>;
  /**
   * Connects to the stdio of the task's first process. If `stdin` is false (default: true), stdin is not used and stays open when the
   * session ends. A session that blocks the process for two seconds by not reading is ended; its stdout then fails with
   * `resource_exhausted`.
   */
  attach(id: string, signal: AbortSignal, options?: { stdin?: boolean }): Promise<Omit<ExecSession, 'exit'>>;
  /** Makes the monitor close its log file and reopen `logPath`, which must be the same as in `create`. */
  reopenLog(id: string, logPath: string): Promise<void>;
  update(id: string, resources: OciLinuxResources): Promise<void>;
  /** Checkpoints a running task, which continues afterwards. Requires CRIU. Optional, because not all runtimes support it. */
  checkpoint?(id: string, checkpoint: TaskCheckpoint): Promise<void>;
  /** Thaws a task left frozen by an interrupted checkpoint. No-op if it is not frozen. */
  thaw?(id: string): Promise<void>;
  /**
   * Queries the runtime for the resource usage of a task without a cgroup on the host, such as one in a virtual machine. Returns
   * `undefined` if the task is not running or its usage is not measured.
   */
  use?(id: string): Promise<CgroupStats | undefined>;
  /** Returns the IDs of all tasks that have anything left on the host: a monitor, files, or runtime state. */
  list(): Promise<string[]>;
  /** Whether `list` includes the ID, without the cost of listing all tasks. Optional. */
  has?(id: string): Promise<boolean>;
  /** Stops watching tasks and listening for connections; tasks keep running. */
  close(): void;
}
