import { closeSync } from 'node:fs';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import type { Libc } from '../sys/libc.ts';
import { openRawPty, setProcessTerminalSize, setTerminalSize } from '../sys/pty.ts';
import { openPtyStreams } from '../sys/pty-stream.ts';
import { ExecProcess, type ExecRequest } from './exec-process.ts';
import { runtimeError } from './runtime-words.ts';
import type { ExecSession } from './task-runtime.ts';

/** The most that is read of a runtime's words about an exec that did not start. */
const maxWordsBytes = 64 * 1024;

export type ExecStreamOptions = {
  libc: Libc;
  terminal: boolean;
  /** When it aborts, the process and all that it started are killed. */
  signal: AbortSignal;
};

/** Runs a command in a task with its streams connected. The session is there once the process runs. */
export async function execStream(request: ExecRequest, options: ExecStreamOptions): Promise<ExecSession> {
  options.signal.throwIfAborted();
  const { exec, streams } = options.terminal ? startOnTerminal(request, options.libc) : startOnPipes(request);
  const stop = () => {
    streams.stdin.destroy();
    exec.kill().catch(() => undefined);
  };
  options.signal.addEventListener('abort', stop, { once: true });
  const exit = exec.exited.then(async (exitCode) => {
    options.signal.removeEventListener('abort', stop);
    await exec.removeFiles();
    return { exitCode };
  });
  if (!(await exec.running())) {
    await exit;
    const output = await readWords(streams.stderr ?? streams.stdout);
    options.signal.throwIfAborted();
    throw runtimeError(exec.what, output);
  }
  return { ...streams, exit };
}

type Streams = Omit<ExecSession, 'exit'>;

function startOnPipes(request: ExecRequest): { exec: ExecProcess; streams: Streams } {
  const exec = new ExecProcess(request, { terminal: false, stdio: ['pipe', 'pipe', 'pipe'] });
  const [stdin, stdout, stderr] = exec.child.stdio as [Writable, Readable, Readable];
  ignoreBrokenPipe(stdin);
  const streams = { stdin, stdout: keepUnread(stdout), stderr: keepUnread(stderr), resize: () => undefined };
  return { exec, streams };
}

function startOnTerminal(request: ExecRequest, libc: Libc): { exec: ExecProcess; streams: Streams } {
  const { master, slave } = openRawPty(libc);
  const exec = new ExecProcess(request, { terminal: true, stdio: [slave, slave, slave] });
  closeSync(slave);
  const { input, output } = openPtyStreams(master);
  const resize = (columns: number, rows: number) => {
    // runc passes the size of our terminal on to the one in the task, crun does not.
    if (!output.destroyed && !output.readableEnded) setTerminalSize(libc, master, { columns, rows });
    exec.pid().then(
      (pid) => pid !== undefined && setProcessTerminalSize(libc, pid, { columns, rows }),
      () => undefined,
    );
  };
  return { exec, streams: { stdin: input, stdout: output, stderr: undefined, resize } };
}

/** When a child process ends, Node.js throws away what nobody has begun to read; this stream keeps it. */
function keepUnread(stream: Readable): Readable {
  return stream.pipe(new PassThrough());
}

/** A process may end without reading all of its input. */
function ignoreBrokenPipe(stdin: Writable): void {
  stdin.on('error', () => undefined);
}

async function readWords(stream: Readable): Promise<string> {
  let text = '';
  for await (const chunk of stream) {
    text += String(chunk);
    if (text.length > maxWordsBytes) break;
  }
  return text;
}
