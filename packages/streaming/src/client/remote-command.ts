import { finished, type Readable, type Writable } from 'node:stream';
import { PodwrightError } from '@podwright/base';
import { type ExitStatus, exitCodeFrom } from '../exit-status.ts';
import type { TerminalSize } from '../remote-process.ts';
import { SPDY_COMMAND_PROTOCOLS } from '../server/protocols.ts';
import type { SpdyStream } from '../spdy/connection.ts';
import { connectSpdy, type UpgradeTarget } from './upgrade.ts';

/** The local ends of a remote command. `resize` calls its listener at once and at each change of the terminal's size. */
export type CommandIo = {
  stdin?: Readable;
  stdout?: Writable;
  /** Absent with a terminal. */
  stderr?: Writable;
  tty: boolean;
  resize?: (listener: (size: TerminalSize) => void) => Disposable;
};

/**
 * Runs a command, or attaches to one, behind a streaming URL until it ends; returns its exit code. The order in which
 * streams are opened is that of Kubernetes' clients: error, stdin, stdout, stderr, resize.
 */
export async function runRemoteCommand(target: UpgradeTarget, io: CommandIo, signal?: AbortSignal): Promise<number> {
  const { connection } = await connectSpdy(target, { protocols: SPDY_COMMAND_PROTOCOLS, signal });
  const onAbort = () => connection.destroy();
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    const error = await connection.open({ streamtype: 'error' });
    error.end();
    const verdict = readAll(error);
    const stdin = io.stdin && (await connection.open({ streamtype: 'stdin' }));
    const stdout = io.stdout && (await connection.open({ streamtype: 'stdout' }));
    const stderr = io.stderr && !io.tty ? await connection.open({ streamtype: 'stderr' }) : undefined;
    const resize = io.tty ? await connection.open({ streamtype: 'resize' }) : undefined;
    if (io.stdin && stdin) pass(io.stdin, stdin);
    using _resizing = resize && io.resize?.((size) => resize.write(`${JSON.stringify(size)}\n`));
    const outputs = [copy(stdout, io.stdout), copy(stderr, io.stderr)];
    const words = await verdict;
    await Promise.all(outputs);
    if (signal?.aborted) throw signal.reason;
    return readVerdict(words);
  } finally {
    signal?.removeEventListener('abort', onAbort);
    connection.destroy();
  }
}

function pass(source: Readable, target: SpdyStream): void {
  source.pipe(target);
  target.on('error', () => source.unpipe(target));
}

async function copy(source: SpdyStream | undefined, target: Writable | undefined): Promise<void> {
  if (source === undefined || target === undefined) return;
  source.end();
  source.pipe(target, { end: false });
  await new Promise<void>((resolve) => finished(source, { writable: false }, () => resolve()));
}

async function readAll(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes <= 64 << 10) chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** An empty error stream is success before v4; text is a failure before the command could run. */
function readVerdict(words: string): number {
  if (words === '') return 0;
  let status: ExitStatus;
  try {
    status = JSON.parse(words) as ExitStatus;
  } catch {
    throw new PodwrightError('internal', words);
  }
  const exitCode = exitCodeFrom(status);
  if (exitCode === undefined) throw new PodwrightError('internal', status.message ?? 'the command could not be run');
  return exitCode;
}
