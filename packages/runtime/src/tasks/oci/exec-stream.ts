import type { Readable, Writable } from 'node:stream';
import { runtimeError } from '../../oci-runtime/runtime-error.ts';
import { killExec } from '../collect-exec.ts';
import { keepUnread } from '../output-pace.ts';
import type { ExecSession } from '../task-runtime.ts';
import { readAll } from './conmon.ts';
import { type ExecRequest, type StartedExec, startExec } from './exec-process.ts';
import { startOnTerminal, type TerminalTools } from './exec-terminal.ts';

export type ExecStreamOptions = {
  /** The tools for running the command on a terminal; undefined if it runs without one. */
  terminal: TerminalTools | undefined;
  /** Aborting this signal kills the process and all processes that it started. */
  signal: AbortSignal;
};

/** Runs a command in a task with its streams connected. Resolves once the process is running. */
export async function execStream(request: ExecRequest, { terminal, signal }: ExecStreamOptions): Promise<ExecSession> {
  signal.throwIfAborted();
  const started =
    terminal === undefined ? startOnPipes(request, signal) : await startOnTerminal(request, terminal, signal);
  const { exec, streams } = started;
  const stop = () => {
    streams.stdin.destroy();
    void killExec(exec);
  };
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const exit = endOf(started).finally(() => signal.removeEventListener('abort', stop));
  try {
    await started.running;
  } catch (error) {
    const failure = await exit.then(
      () => error,
      (notStarted: unknown) => notStarted,
    );
    for (const stream of exec.child.stdio) stream?.destroy(); // the start failed, so no session will read the streams
    signal.throwIfAborted();
    throw failure;
  }
  return { ...streams, exit };
}

/** Waits for an exec to exit, and removes its files. Rejects if the OCI runtime could not be started. */
async function endOf({ exec, running, remove }: StartedExec): Promise<{ exitCode: number }> {
  try {
    return { exitCode: await exec.exited };
  } finally {
    // wait for the PID file before removing it: a short command such as `true` can exit before it has been read
    await running.catch(() => undefined);
    await remove();
  }
}

function startOnPipes(request: ExecRequest, signal: AbortSignal): StartedExec {
  const exec = startExec(request, ['pipe', 'pipe', 'pipe']);
  const [stdin, stdout, stderr] = exec.child.stdio as [Writable, Readable, Readable];
  ignoreBrokenPipe(stdin);
  const streams = { stdin, stdout: keepUnread(stdout), stderr: keepUnread(stderr), resize: () => undefined };
  const running = exec.running(signal).then(async (runs) => {
    if (!runs) throw runtimeError(exec.what, await readAll(streams.stderr));
  });
  return { exec, streams, running, remove: () => exec.removeFiles() };
}

/** Ignores EPIPE on stdin, because a process can exit without reading all of its input. */
function ignoreBrokenPipe(stdin: Writable): void {
  stdin.on('error', () => undefined);
}
