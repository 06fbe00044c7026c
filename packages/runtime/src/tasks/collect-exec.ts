import type { Readable } from 'node:stream';
import { BoundedBytes, wrapError } from '@podwright/base';
import { paceSmallReads } from './output-pace.ts';

/** The most that is kept of each of stdout and stderr, as by containerd (`maxExecSyncSize` of its CRI server). */
const maxOutputBytes = 16 * 1024 * 1024;
/** How long output is still read after the process has ended while one of its children holds the pipe open. */
export const drainMs = 1_000;

/** A command that runs, whatever runs it. */
export type RunningExec = {
  what: string;
  stdout: Readable;
  stderr: Readable;
  exited: Promise<number>;
  /** Kills the whole process tree. */
  kill(): Promise<void>;
};

export type ExecResult = { stdout: Buffer; stderr: Buffer; exitCode: number };

/** Waits for the end of a command, which an abort kills, and returns what it wrote. */
export async function collectExec(exec: RunningExec, signal: AbortSignal): Promise<ExecResult> {
  const kill = () => void exec.kill().catch(() => undefined);
  signal.addEventListener('abort', kill, { once: true });
  if (signal.aborted) kill();
  try {
    const output = [collect(exec.stdout, exec.exited), collect(exec.stderr, exec.exited)] as const;
    const [stdout, stderr, exitCode] = await Promise.all([...output, exec.exited]);
    if (signal.aborted) throw wrapError(`${exec.what}: killed`, signal.reason);
    return { stdout, stderr, exitCode };
  } finally {
    signal.removeEventListener('abort', kill);
  }
}

/** Reads to the end and keeps the first 16 MiB, so that a program that writes more is neither stopped nor a danger. */
function collect(stream: Readable, exited: Promise<number>): Promise<Buffer> {
  return new Promise((resolve) => {
    const output = new BoundedBytes(maxOutputBytes);
    stream.on('data', (chunk: Buffer) => output.add(chunk));
    paceSmallReads(stream);
    let drain: NodeJS.Timeout | undefined;
    const stop = () => {
      if (!stream.closed) drain = setTimeout(() => stream.destroy(), drainMs);
    };
    exited.then(stop, stop);
    stream.once('close', () => {
      clearTimeout(drain);
      resolve(output.bytes());
    });
  });
}
