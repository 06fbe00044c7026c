import { type ChildProcess, spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { raceAbort, sleep, withTimeout, wrapError } from '@podwright/base';
import { globalArguments, type OciRuntime } from './oci-program.ts';
import { killProcessTrees, readProcess } from './processes.ts';

/** A command to run in a task beside its first process. */
export type ExecRequest = {
  runtime: OciRuntime;
  /** File for the pid of the process. */
  pidFile: string;
  id: string;
  command: string[];
};

/** Exit code of a process that was killed by SIGKILL, as shells have it. */
const killedExitCode = 137;

/** How long a program may take to start the process before it is killed all the same. */
const startTimeoutMs = 10_000;

/** One run of the OCI runtime's `exec`, and through its pid file the process that it started in the task. */
export class ExecProcess {
  readonly what: string;
  readonly child: ChildProcess;
  /** Exit code of the runtime's program, which is that of the process once that runs. Never rejects after the start. */
  readonly exited: Promise<number>;
  readonly #pidFile: string;

  constructor(
    { runtime, pidFile, id, command }: ExecRequest,
    options: { terminal: boolean; stdio: ('pipe' | 'ignore' | number)[] },
  ) {
    this.what = `run ${JSON.stringify(command[0])} in task ${id}`;
    this.#pidFile = pidFile;
    const args = [...globalArguments(runtime), 'exec', '--pid-file', pidFile];
    // With a terminal the runtime resizes the one in the task as its own controlling terminal is.
    const [program, ...before] = options.terminal ? ['setsid', '--ctty', runtime.path] : [runtime.path];
    const terminal = options.terminal ? ['--tty'] : [];
    // A session of its own, either way: by it the exec's processes are known when their parents are dead.
    const detached = !options.terminal;
    this.child = spawn(program!, [...before, ...args, ...terminal, id, ...command], { stdio: options.stdio, detached });
    this.exited = new Promise((resolve, reject) => {
      this.child.once('error', (error) => reject(wrapError(this.what, error, 'internal')));
      this.child.once('exit', (code) => resolve(code ?? killedExitCode));
    });
  }

  /** Waits until the process runs; false if the runtime has ended without it. */
  async running(): Promise<boolean> {
    let ended = false;
    const end = this.exited.then(() => {
      ended = true;
    });
    while (!ended) {
      if ((await this.pid()) !== undefined) return true;
      await Promise.race([end, sleep(2)]);
    }
    return (await this.pid()) !== undefined;
  }

  /** The pid of the process in the task, `undefined` before it runs. */
  async pid(): Promise<number | undefined> {
    const text = await readFile(this.#pidFile, 'utf8').catch(() => '');
    return /^\d+$/.test(text.trim()) ? Number(text) : undefined;
  }

  /**
   * Kills the runtime's program and all that the exec started, in the task or beside it. The program first gets the time to
   * say which process it started: killed in the middle, it leaves one that nobody knows.
   */
  async kill(): Promise<void> {
    using started = withTimeout(undefined, startTimeoutMs, this.what);
    await raceAbort(this.running(), started).catch(() => undefined);
    const pid = await this.pid();
    // crun's process is in the session of a process between that has ended.
    const session = pid === undefined ? undefined : (await readProcess(pid))?.session;
    await killProcessTrees([pid, session, this.child.pid].filter((root) => root !== undefined));
  }

  async removeFiles(): Promise<void> {
    await rm(this.#pidFile, { force: true });
  }
}
