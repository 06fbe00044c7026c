import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { PRIVATE_DIRECTORY, PRIVATE_FILE, raceAbort, withTimeout } from '@podwright/base';
import { isRunning, type SeqpacketSockets, type System } from '@podwright/system';
import { withOomScore } from '../../oci-runtime/oci-program.ts';
import { runtimeError } from '../../oci-runtime/runtime-error.ts';
import { ATTACHABLE_TIMEOUT_MS } from '../limits.ts';
import { attachToMonitor, unblockTerminalInput } from './attach.ts';
import { monitorEnvironment, readAll, readLine, runtimeOptions } from './conmon.ts';
import { ExecProcess, type ExecRequest, type StartedExec, writeProcess } from './exec-process.ts';
import { BUNDLE_FILES } from './task-files.ts';

/** Dependencies for running commands on terminals, in addition to the OCI runtime: the conmon program, and the attach sockets. */
export type TerminalTools = { conmon: string; sockets: SeqpacketSockets };

/** Name of the OCI runtime's log file in conmon's directory. An absolute path would be truncated at the colon by crun. */
const LOG_NAME = 'log';

/**
 * Runs a command on a terminal through a separate conmon(8), which owns the pty master and runs until the command has exited. A foreground
 * `exec` of the OCI runtime would mix its own messages and terminal settings with the command's. The command starts only after the client
 * has been attached, so that no output is lost. All files are in a directory at the PID file's path.
 */
export async function startOnTerminal(
  request: ExecRequest,
  { conmon, sockets }: TerminalTools,
  signal: AbortSignal,
): Promise<StartedExec> {
  const { pidFile: bundle, system } = request;
  const remove = () => rm(bundle, { recursive: true, force: true });
  let monitor: ExecMonitor | undefined;
  try {
    await mkdir(bundle, { mode: PRIVATE_DIRECTORY });
    signal.throwIfAborted();
    using gate = makeGate(system, bundle);
    monitor = new ExecMonitor(request, { conmon, bundle, gate: gate.descriptor });
    const { exec } = monitor;
    using soon = withTimeout(signal, ATTACHABLE_TIMEOUT_MS, `${exec.what}: attach to its monitor`);
    await raceAbort(monitor.attachable(), soon);
    const stdio = { id: request.id, bundle, terminal: true, stdinOnce: false };
    let pid: number | undefined;
    const options = {
      stdin: true,
      signal,
      system,
      pid: () => (exec.child.exitCode === null ? pid : undefined),
      hasExited: () => pid !== undefined && !isRunning(pid),
    };
    const streams = attachToMonitor(sockets, stdio, options);
    gate.pass();
    const running = monitor.running().then((started) => {
      pid = started;
      unblockTerminalInput(sockets, stdio);
    });
    return { exec, streams, running, remove };
  } catch (error) {
    await monitor?.exec.endProgram();
    await remove();
    throw error;
  }
}

/**
 * Creates a FIFO that conmon reads once before it does anything, and again before it starts the OCI runtime. conmon inherits both ends: if
 * this process dies, conmon keeps waiting until it is killed at the next start of the container runtime.
 */
function makeGate(system: System, bundle: string): { descriptor: number; pass(): void } & Disposable {
  const path = join(bundle, 'start');
  system.makeFifo(path, PRIVATE_FILE);
  const descriptor = openSync(path, constants.O_RDWR);
  const pass = () => void writeSync(descriptor, 'go');
  pass();
  return { descriptor, pass, [Symbol.dispose]: () => closeSync(descriptor) };
}

/** A message from conmon on its sync or attach pipe. `data` is a PID or an exit code; if it is -1, `message` is from the OCI runtime. */
type Report = { data: number; message?: string };

/**
 * A conmon process that is a child of this process, which therefore receives its exit code. conmon exits with the exit code of the command.
 */
class ExecMonitor {
  readonly exec: ExecProcess;
  readonly #log: string;
  readonly #announced: Promise<Report | undefined>;
  readonly #report: Promise<Report | undefined>;
  readonly #stderr: Promise<string>;

  constructor(request: ExecRequest, { conmon, bundle, gate }: { conmon: string; bundle: string; gate: number }) {
    const own = { ...request, pidFile: join(bundle, BUNDLE_FILES.pid) };
    const child = request.start(conmon, monitorArguments(own, bundle), {
      cwd: bundle,
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe', gate],
      env: { ...monitorEnvironment(), _OCI_SYNCPIPE: '3', _OCI_ATTACHPIPE: '4', _OCI_STARTPIPE: '5' },
    });
    const [stderr, sync, attach] = child.stdio.slice(2) as [Readable, Readable, Readable];
    this.exec = new ExecProcess(own, child);
    this.#log = join(bundle, LOG_NAME);
    this.#announced = firstReport(attach);
    this.#report = firstReport(sync);
    this.#stderr = readAll(stderr).catch(() => '');
  }

  /** Waits for conmon to accept attach connections. */
  async attachable(): Promise<void> {
    if ((await this.#announced) === undefined) await this.#fail();
  }

  /** Waits for the command to run, and returns its PID. */
  async running(): Promise<number> {
    const { data = -1, message } = (await this.#report) ?? {};
    return data > 0 ? data : await this.#fail(message);
  }

  /**
   * Throws the reason for a failure. The OCI runtime's log takes precedence over `message`: newer versions of conmon report the OCI
   * runtime's error message only for a container create.
   */
  async #fail(message?: string): Promise<never> {
    await this.exec.exited;
    const logged = await readFile(this.#log, 'utf8').catch(() => '');
    throw runtimeError(this.exec.what, logged || message || (await this.#stderr));
  }
}

/** Returns conmon's first report on a pipe. The pipe is kept open, because conmon would otherwise fail. */
async function firstReport(pipe: Readable): Promise<Report | undefined> {
  const [line] = (await readLine(pipe).catch(() => '')).split('\n', 1);
  pipe.resume();
  return line ? (JSON.parse(line) as Report) : undefined;
}

function monitorArguments(request: ExecRequest, bundle: string): string[] {
  const { id, pidFile } = request;
  const { file, oomScoreAdj } = writeProcess(request, { terminal: true });
  return [
    ...['--api-version', '1', '--sync', '--exec', '--exec-attach', '--terminal', '--stdin', '--leave-stdin-open'],
    ...['--cid', id, '--cuuid', id, '--name', id, '--log-path', 'off'],
    ...runtimeOptions(withOomScore(request.runtime, oomScoreAdj), ['--log', LOG_NAME]),
    ...['--bundle', bundle, '--full-attach', '--container-pidfile', pidFile],
    ...['--exec-process-spec', file],
  ];
}
