import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { raceAbort, withTimeout } from '@podwright/base';
import { setProcessTerminalSize } from '../sys/pty.ts';
import type { SeqpacketSockets } from '../sys/seqpacket.ts';
import type { System } from '../sys/system.ts';
import { attachToMonitor, type MonitoredStdio, unblockTerminalInput } from './attach.ts';
import { readAll, readLine, runtimeOptions } from './conmon.ts';
import { resizeMonitorTerminal } from './control.ts';
import { ExecProcess, type ExecRequest, writeProcess } from './exec-process.ts';
import type { StartedExec } from './exec-stream.ts';
import { killProcessTrees } from './processes.ts';
import { runtimeError } from './runtime-words.ts';

/** What runs commands on terminals, besides the OCI runtime. */
export type TerminalTools = { conmon: string; sockets: SeqpacketSockets; system: System };

/** How long conmon may take until one can attach to it. */
const attachableTimeoutMs = 10_000;

/** The runtime's log, in conmon's folder: crun would cut the whole path at its colon. */
const logName = 'log';

/**
 * Has a conmon (8) of its own run a command on a terminal: it owns the terminal's master and stays until the command has
 * ended. The runtime's `exec` in the foreground would mix its words and terminal settings with those of the command.
 * Nothing runs before we are attached, so that no output is lost.
 */
export async function startOnTerminal(
  request: ExecRequest,
  { conmon, sockets, system }: TerminalTools,
  signal: AbortSignal,
): Promise<StartedExec> {
  const bundle = `${request.pidFile}.conmon`;
  await mkdir(bundle, { mode: 0o700 });
  const gate = openGate(system, bundle);
  const monitor = startMonitor(request, { conmon, bundle, gate });
  const { exec } = monitor;
  const remove = async () => {
    await exec.removeFiles();
    await rm(bundle, { recursive: true, force: true });
  };
  try {
    using soon = withTimeout(signal, attachableTimeoutMs, `${exec.what}: attach to its monitor`);
    await raceAbort(monitor.attachable, soon);
    const stdio = { id: request.id, bundle, terminal: true, stdinOnce: false };
    const streams = attachToMonitor(sockets, stdio, { stdin: true, signal });
    writeSync(gate, 'go');
    const resize = (columns: number, rows: number) => {
      resizeTerminal({ exec, stdio, system }, columns, rows).catch(() => undefined); // the command has just ended
    };
    const whyNotStarted = async () => {
      const words = await monitor.whyNotStarted();
      if (words === undefined) unblockTerminalInput(sockets, stdio);
      return words;
    };
    return { exec, streams: { ...streams, resize }, whyNotStarted, remove };
  } catch (error) {
    if (exec.child.pid !== undefined) await killProcessTrees([exec.child.pid]);
    await remove();
    throw error;
  } finally {
    closeSync(gate);
  }
}

/**
 * A FIFO that conmon reads once before it does anything, and again before it starts the OCI runtime. It gets both ends, so
 * that without us it waits for ever, for the next life of ours to end it.
 */
function openGate(system: System, bundle: string): number {
  const path = join(bundle, 'start');
  system.makeFifo(path, 0o600);
  const gate = openSync(path, constants.O_RDWR);
  writeSync(gate, 'go');
  return gate;
}

/** Starts conmon as our child, so that its exit code, which is the command's, comes to us. */
function startMonitor(request: ExecRequest, options: { conmon: string; bundle: string; gate: number }) {
  const { conmon, bundle, gate } = options;
  const child = request.start(conmon, monitorArguments(request, bundle), {
    cwd: bundle,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe', gate],
    env: {
      PATH: process.env.PATH,
      TMPDIR: '.', // for the socket by which it gets the terminal
      ...{ _OCI_SYNCPIPE: '3', _OCI_ATTACHPIPE: '4', _OCI_STARTPIPE: '5' },
    },
  });
  const exec = new ExecProcess(request, child);
  const [stderr, sync, attach] = child.stdio.slice(2) as [Readable, Readable, Readable];
  const words = readAll(stderr);
  const report = readReport(sync);
  const attachable = readReport(attach).then(async (announced) => {
    await (announced === undefined ? exec.exited : undefined);
    if (announced === undefined) throw runtimeError(exec.what, await words);
  });
  const whyNotStarted = async () => {
    const { data = -1, message } = (await report) ?? {};
    if (data > 0) return undefined;
    await exec.exited;
    // Newer conmons tell the runtime's words only when they create containers.
    return message ?? (await readFile(join(bundle, logName), 'utf8').catch(() => words));
  };
  return { exec, attachable, whyNotStarted };
}

/** What conmon says on a pipe first: `{"data": 42}`, with -1 and a `message` if it failed. It must be able to say more. */
async function readReport(pipe: Readable): Promise<{ data?: number; message?: string } | undefined> {
  const [line] = (await readLine(pipe)).split('\n', 1);
  pipe.resume();
  return line ? JSON.parse(line) : undefined;
}

function monitorArguments(request: ExecRequest, bundle: string): string[] {
  const { id, pidFile, runtime } = request;
  return [
    ...['--api-version', '1', '--sync', '--exec', '--exec-attach', '--terminal', '--stdin', '--leave-stdin-open'],
    ...['--cid', id, '--cuuid', id, '--name', id, '--log-path', 'off'],
    ...runtimeOptions(runtime, ['--log', logName]),
    ...['--bundle', bundle, '--full-attach', '--container-pidfile', pidFile],
    ...['--exec-process-spec', writeProcess(request, { terminal: true })],
  ];
}

/**
 * Sets the size of the terminal where the command has it, as of several sizes that come to conmon at once it takes the first;
 * through conmon if the command's stdin is something else.
 */
async function resizeTerminal(
  { exec, stdio, system }: { exec: ExecProcess; stdio: MonitoredStdio; system: System },
  columns: number,
  rows: number,
): Promise<void> {
  const pid = await exec.pid();
  if (pid !== undefined && setProcessTerminalSize(system, pid, { columns, rows })) return;
  await resizeMonitorTerminal(stdio, columns, rows);
}
