import { readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { ignoreFailure, type Logger, PRIVATE_FILE, raceAbort, sleep, withTimeout, wrapError } from '@podwright/base';
import type { ProgramStarter, StartedProgram } from '@podwright/host';
import type { OciSpec } from '@podwright/oci';
import { killProcessTrees, readProcess, type System } from '@podwright/system';
import { startedHere } from '../../oci-runtime/covered-call.ts';
import { globalArguments, type OciRuntime, withOomScore } from '../../oci-runtime/oci-program.ts';
import { runtimeError } from '../../oci-runtime/runtime-error.ts';
import { collectExec, type ExecResult } from '../collect-exec.ts';
import { execProcess } from '../exec-spec.ts';
import { EXEC_END_TIMEOUT_MS, EXEC_POLL_MS, EXEC_START_TIMEOUT_MS } from '../limits.ts';
import { KILLED_EXIT_CODE } from '../task-exit.ts';
import type { ExecSession, ExecSyncOptions } from '../task-runtime.ts';

/** An additional command to be run in a task. */
export type ExecRequest = {
  start: ProgramStarter;
  runtime: OciRuntime;
  /** Path of the file to which the OCI runtime writes the PID of the command's process. */
  pidFile: string;
  id: string;
  command: string[];
  terminalName?: string;
  /** Path of the task's `config.json`. */
  config: string;
  system: System;
  logger: Logger;
};

/** A command that has been started. */
export type StartedExec = {
  exec: ExecProcess;
  streams: Omit<ExecSession, 'exit'>;
  /**
   * Resolves once the command's process is running. Rejects with the OCI runtime's error message if the OCI runtime exits without starting
   * it.
   */
  running: Promise<void>;
  /** Removes the exec's files. Must be called after the process has exited. */
  remove(): Promise<void>;
};

/** An invocation of the OCI runtime's `exec` command. Its PID file also gives access to the process that was started in the task. */
export class ExecProcess {
  readonly what: string;
  readonly logger: Logger;
  readonly child: StartedProgram;
  /**
   * Resolves with the exit code of the OCI runtime's program, which passes on the exit code of the command if the command was started.
   * Never rejects after the start.
   */
  readonly exited: Promise<number>;
  readonly #pidFile: string;

  /** `child` is the OCI runtime's program, or a conmon that runs it and exits with the exit code of the command. */
  constructor({ pidFile, id, command, logger }: ExecRequest, child: StartedProgram) {
    this.what = `run ${JSON.stringify(command[0])} in task ${id}`;
    this.#pidFile = pidFile;
    this.logger = logger;
    this.child = child;
    this.exited = new Promise((resolve, reject) => {
      this.child.once('error', (error) => reject(wrapError(this.what, error, 'internal')));
      this.child.once('exit', (code) => resolve(code ?? KILLED_EXIT_CODE));
    });
  }

  /** Waits until the command's process is running in the task. Returns false if the OCI runtime exits without starting it. */
  async running(signal: AbortSignal): Promise<boolean> {
    let ended = false;
    const end = this.exited.then(() => {
      ended = true;
    });
    ignoreFailure(end, 'it may reject during the read, before it is awaited');
    let wake = () => {};
    using _watch = watchFile(this.#pidFile, () => wake());
    while (!ended) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      if ((await this.pid()) !== undefined) return true;
      await Promise.race([end, woken, sleep(EXEC_POLL_MS, signal)]);
    }
    return (await this.pid()) !== undefined;
  }

  /** Returns the PID of the command's process in the task; `undefined` if it is not running yet. */
  async pid(): Promise<number | undefined> {
    const text = await readFile(this.#pidFile, 'utf8').catch(() => '');
    return /^\d+$/.test(text.trim()) ? Number(text) : undefined;
  }

  /**
   * Kills all of the exec's processes, then the OCI runtime's program if it does not exit on its own. The program first gets time to report
   * the PID of its process, which would otherwise be unknown.
   */
  async kill(): Promise<void> {
    using started = withTimeout(undefined, EXEC_START_TIMEOUT_MS, this.what);
    await this.running(started).catch(() => undefined);
    const pid = await this.pid();
    if (pid !== undefined) {
      // also kill the session: crun starts the process in the session of an intermediate process that has already exited
      const session = readProcess(pid)?.session ?? pid;
      await killProcessTrees([pid, session]);
      // wait for the parent to reap the process: a zombie left to the host's init would delay the end of the task's PID namespace
      using soon = withTimeout(undefined, EXEC_END_TIMEOUT_MS, this.what);
      await raceAbort(this.exited, soon).catch(() => undefined);
    }
    await this.endProgram();
  }

  /** Kills the OCI runtime's program and the processes that it has started so far. */
  async endProgram(): Promise<void> {
    const { pid, exitCode, signalCode } = this.child;
    if (pid !== undefined && exitCode === null && signalCode === null) await killProcessTrees([pid]);
  }

  async removeFiles(): Promise<void> {
    await rm(this.#pidFile, { force: true });
    await rm(processFile(this.#pidFile), { force: true });
  }
}

/** Calls `onChange` when a file changes or is created. No-op if inotify is not available. */
function watchFile(path: string, onChange: () => void): Disposable {
  try {
    const watcher = watch(dirname(path), (_event, name) => {
      if (name === basename(path)) onChange();
    });
    watcher.on('error', () => watcher.close());
    return { [Symbol.dispose]: () => watcher.close() };
  } catch {
    return { [Symbol.dispose]: () => undefined };
  }
}

/** Runs a command in a task, using the stdio of the OCI runtime's program. Leaves no files behind if the program cannot be started. */
export function startExec(request: ExecRequest, stdio: ('pipe' | 'ignore')[]): ExecProcess {
  const { pidFile, id } = request;
  let call: ReturnType<typeof startedHere<OciRuntime>> | undefined;
  const end = () => call?.[Symbol.dispose]();
  try {
    const { file, oomScoreAdj } = writeProcess(request, { terminal: false });
    call = startedHere({ program: request.runtime, start: request.start }, request);
    const runtime = withOomScore(call.program, oomScoreAdj);
    const args = [...globalArguments(runtime), 'exec', '--pid-file', pidFile, '--process', file, id];
    // a separate session, so that the exec's processes can be identified even after their parents have exited
    const exec = new ExecProcess(request, call.start(runtime.path, args, { env: process.env, stdio, detached: true }));
    exec.exited.then(end, end);
    return exec;
  } catch (error) {
    end();
    rmSync(processFile(pidFile), { force: true });
    throw error;
  }
}

const processFile = (pidFile: string) => `${pidFile}.json`;

/**
 * Writes an exec's OCI process to a file: the task's process with a different command. Without this file, crun (unlike runc) would run the
 * command as root and without the task's groups. Returns the path of the file, and the oom_score_adj for starting the OCI runtime
 * (`withOomScore`).
 */
export function writeProcess(
  { pidFile, config, command, terminalName }: ExecRequest,
  { terminal }: { terminal: boolean },
): { file: string; oomScoreAdj: number | undefined } {
  const file = processFile(pidFile);
  const { process } = JSON.parse(readFileSync(config, 'utf8')) as OciSpec;
  const spec = execProcess(process, { command, terminal, terminalName });
  writeFileSync(file, JSON.stringify(spec), { mode: PRIVATE_FILE });
  return { file, oomScoreAdj: process.oomScoreAdj };
}

/** Runs a command in a task until it exits. If aborted, kills the whole process tree and throws the abort reason. */
export async function execSync(request: ExecRequest, options: ExecSyncOptions): Promise<ExecResult> {
  options.signal.throwIfAborted();
  const exec = startExec(request, ['ignore', 'pipe', 'pipe']);
  const [, stdout, stderr] = exec.child.stdio as [null, Readable, Readable];
  try {
    const { what, exited, logger } = exec;
    const running = { what, stdout, stderr, exited, pid: () => exec.pid(), kill: () => exec.kill(), logger };
    const result = await collectExec(running, options);
    // if no process was started, the output and exit code are the OCI runtime's own
    if ((await exec.pid()) === undefined) throw runtimeError(exec.what, result.stderr.toString('utf8'));
    return result;
  } finally {
    await exec.removeFiles();
  }
}
