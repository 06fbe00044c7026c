import type { Readable, Writable } from 'node:stream';
import type { CgroupStats } from '@podwright/base';
import type { OciLinuxResources, OciSpec } from '../oci/spec.ts';

/** What a task is made from. The caller has committed the bundle, and mounted the root file system that `spec.root.path` names. */
export type TaskConfig = {
  id: string;
  /**
   * Directory of the caller's with the committed `config.json` (`commitSpec`). The runtime reads that, at the create and at
   * each exec, and neither writes nor removes anything in it: what else it needs is in directories of its own.
   */
  bundle: string;
  /** What `config.json` says. */
  spec: OciSpec;
  terminal: boolean;
  stdin: boolean;
  /** stdin is closed after the first attach session that had it ends. */
  stdinOnce: boolean;
  /** CRI log file, '' for none. */
  logPath: string;
  /** Name of the OCI runtime to use: the runtime handler's. '' for the default. */
  handler: string;
};

/** How a process ended. `oomKilled`: the kernel killed a process of the task for memory, whatever the exit code. */
export type TaskExit = {
  exitCode: number;
  exitedAtMs: number;
  oomKilled: boolean;
  /** Message for a person when the exit code is not the process's own, as after the death of its monitor. */
  message?: string;
};

export type TaskState =
  | { status: 'created' | 'running'; pid: number }
  | { status: 'exited'; exit: TaskExit }
  | { status: 'absent' };

/** A process to run in a task beside its first one. */
export type ExecConfig = {
  command: string[];
  terminal: boolean;
  /** TERM for a command on a terminal, unless the task has one of its own; xterm unless given. */
  terminalName?: string;
  /** Environment and working directory default to those of the task. */
  signal: AbortSignal;
};

/**
 * The ends of a streamed process. With a terminal, stderr is absent. Output that is not read stops the process:
 * what is not wanted must be resumed.
 */
export type ExecSession = {
  stdin: Writable;
  stdout: Readable;
  stderr: Readable | undefined;
  resize(columns: number, rows: number): void;
  exit: Promise<{ exitCode: number }>;
};

/**
 * Where a task's checkpoint goes: CRIU's images of its memory, and CRIU's own log and statistics. `frozen` is called while
 * the task stands still, for what must be of the same moment.
 */
export type TaskCheckpoint = { images: string; work: string; frozen: () => Promise<void>; signal: AbortSignal };

/**
 * Runs containers. Tasks outlive this process: after a restart `state` and `onExit` work for tasks of
 * before, and nothing that the runtime keeps in memory is needed to stop or delete one.
 * Errors: `not_found` (no such task, or a command that is not in the image: the OCI runtime's message is kept),
 * `already_exists`, `failed_precondition` (not running), `deadline_exceeded`, `internal`.
 */
export interface TaskRuntime {
  readonly name: string;
  /** Creates the task's process, stopped before its program; returns its pid. On failure nothing is left. */
  create(config: TaskConfig, signal: AbortSignal): Promise<{ pid: number }>;
  start(id: string): Promise<void>;
  /** Sends a signal to the task's first process, or to all of them. No error if it has ended. */
  kill(id: string, signal: string, options?: { all?: boolean }): Promise<void>;
  /** How the task is. One whose monitor or shim has died without a report of its exit is killed first: its stdio is broken. */
  state(id: string): Promise<TaskState>;
  /** Calls back once when the task has ended, at once if it already has; also when its monitor died. */
  onExit(id: string, listener: (exit: TaskExit) => void): Disposable;
  /**
   * Ends what still runs, and removes every process, cgroup and file of the task; its bundle stays, from which it may be
   * created again. No error if there is none.
   */
  delete(id: string): Promise<void>;
  /** Whether no process of the task is left, so that it has only files and cgroups. Absent from runtimes that cannot tell. */
  isEmpty?(id: string): Promise<boolean>;
  /** Runs a command to its end, or until the signal aborts, which kills it. stdout and stderr are each cut at 16 MiB. */
  execSync(
    id: string,
    command: string[],
    signal: AbortSignal,
  ): Promise<{ stdout: Buffer; stderr: Buffer; exitCode: number }>;
  exec(id: string, config: ExecConfig): Promise<ExecSession>;
  /**
   * Connects to the stdio of the task's first process. Without `stdin` (true) its stdin is left alone, also when the
   * session ends.
   */
  attach(id: string, signal: AbortSignal, options?: { stdin?: boolean }): Promise<Omit<ExecSession, 'exit'>>;
  /** Makes the monitor close its log file and open `logPath`, which the task was created with, anew. */
  reopenLog(id: string, logPath: string): Promise<void>;
  update(id: string, resources: OciLinuxResources): Promise<void>;
  /** Writes down a running task, which goes on afterwards. Absent from runtimes that cannot. Needs CRIU. */
  checkpoint?(id: string, wanted: TaskCheckpoint): Promise<void>;
  /** Lets a task go on that stands still since a checkpoint was cut off. No error for one that does not. */
  thaw?(id: string): Promise<void>;
  /**
   * What the task uses, as its runtime counts it: for tasks of which the host sees no cgroup, such as those in virtual
   * machines. `undefined` if it does not run or is not counted.
   */
  use?(id: string): Promise<CgroupStats | undefined>;
  /** Ids of every task that has anything left on the host: monitor, files, runtime state. */
  list(): Promise<string[]>;
  /** Stops watching and listening; tasks go on. */
  close(): void;
}
