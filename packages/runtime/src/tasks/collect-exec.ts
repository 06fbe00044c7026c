import type { Readable } from 'node:stream';
import { BoundedBytes, errorMessage, type Logger, wrapError } from '@podwright/base';
import { EXEC_DRAIN_MS, EXEC_OUTPUT_BYTES } from './limits.ts';
import { paceSmallReads } from './output-pace.ts';
import type { ExecSyncOptions } from './task-runtime.ts';

/** A running command in a task, independent of the task runtime. */
export type RunningExec = {
  what: string;
  stdout: Readable;
  stderr: Readable;
  exited: Promise<number>;
  /** Returns the PID of the command's process in the task; `undefined` if it is not running yet. */
  pid(): Promise<number | undefined>;
  /** Kills the command and all of its descendants. */
  kill(): Promise<void>;
  logger: Logger;
};

export type ExecResult = { stdout: Buffer; stderr: Buffer; exitCode: number };

/**
 * Waits for a command to exit and returns its output. Aborting kills the command. After the command has exited, aborting only ends the wait
 * for its children's output, and the command's exit code is returned.
 */
export async function collectExec(exec: RunningExec, { signal, ...bounds }: ExecSyncOptions): Promise<ExecResult> {
  let hasEnded = false;
  let isKilled = false;
  const end = () => {
    hasEnded = true;
  };
  exec.exited.then(end, end);
  const stop = () => {
    if (hasEnded) for (const stream of [exec.stdout, exec.stderr]) stream.destroy();
    else void killExec(exec);
    isKilled = !hasEnded;
  };
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    const output = [exec.stdout, exec.stderr].map((stream) => collect(stream, exec.exited, bounds)) as [
      Promise<Buffer>,
      Promise<Buffer>,
    ];
    const [stdout, stderr, exitCode] = await Promise.all([...output, exec.exited]);
    if (isKilled) throw wrapError(`${exec.what}: killed`, signal.reason);
    return { stdout, stderr, exitCode };
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Kills a command whose caller has disconnected. If that fails, logs the PID of the remaining process. */
export async function killExec(exec: Pick<RunningExec, 'what' | 'pid' | 'kill' | 'logger'>): Promise<void> {
  const known = exec.pid().catch(() => undefined);
  try {
    await exec.kill();
  } catch (error) {
    const pid = (await known) ?? (await exec.pid().catch(() => undefined));
    exec.logger.error({ exec: exec.what, pid, error: errorMessage(error) }, 'cannot kill a command');
  }
}

/**
 * Reads a stream to its end but retains only the beginning, so that a program with more output neither blocks nor uses unbounded memory in
 * this process.
 */
function collect(
  stream: Readable,
  exited: Promise<number>,
  { maxOutputBytes = EXEC_OUTPUT_BYTES, memory }: Omit<ExecSyncOptions, 'signal'>,
): Promise<Buffer> {
  return new Promise((resolve) => {
    const output = new BoundedBytes(Math.min(maxOutputBytes, EXEC_OUTPUT_BYTES), memory);
    stream.on('data', (chunk: Buffer) => output.add(chunk));
    paceSmallReads(stream);
    let drain: NodeJS.Timeout | undefined;
    const stop = () => {
      if (!stream.closed) drain = setTimeout(() => stream.destroy(), EXEC_DRAIN_MS);
    };
    exited.then(stop, stop);
    stream.once('close', () => {
      clearTimeout(drain);
      resolve(output.bytes());
    });
  });
}
