import type { Readable } from 'node:stream';
import { PodwrightError } from '@podwright/base';
import { ExecProcess, type ExecRequest } from './exec-process.ts';
import { runtimeError } from './runtime-words.ts';

/** The most that is kept of each of stdout and stderr: what a CRI client accepts in one answer. */
const maxOutputBytes = 16 * 1024 * 1024;
/** How long output is still read after the process has ended while one of its children holds the pipe open. */
const drainMs = 1_000;
/** Longest timer of Node.js. */
const maxTimeoutMs = 2 ** 31 - 1;

/** Runs a command in a task to its end. With a timeout, the whole process tree is killed and `deadline_exceeded` thrown. */
export async function execSync(
  request: ExecRequest,
  timeoutMs: number,
): Promise<{ stdout: Buffer; stderr: Buffer; exitCode: number }> {
  const exec = new ExecProcess(request, { terminal: false, stdio: ['ignore', 'pipe', 'pipe'] });
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    exec.kill().catch(() => undefined);
  }, timeoutMs || maxTimeoutMs);
  try {
    const [stdout, stderr, exitCode] = await Promise.all([
      collect(exec.child.stdout!, exec.exited),
      collect(exec.child.stderr!, exec.exited),
      exec.exited,
    ]);
    if (timedOut) {
      const words = `${exec.what}: not done within ${timeoutMs} ms, killed`;
      throw new PodwrightError('deadline_exceeded', words);
    }
    // Without the process, output and exit code are the runtime's own.
    if ((await exec.pid()) === undefined) throw runtimeError(exec.what, stderr.toString('utf8'));
    return { stdout, stderr, exitCode };
  } finally {
    clearTimeout(timer);
    await exec.removeFiles();
  }
}

/** Reads to the end and keeps the first 16 MiB, so that a program that writes more is neither stopped nor a danger. */
function collect(stream: Readable, exited: Promise<number>): Promise<Buffer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    stream.on('data', (chunk: Buffer) => {
      if (size < maxOutputBytes) chunks.push(chunk.subarray(0, maxOutputBytes - size));
      size += chunk.length;
    });
    let drain: NodeJS.Timeout | undefined;
    const stop = () => {
      if (!stream.closed) drain = setTimeout(() => stream.destroy(), drainMs);
    };
    exited.then(stop, stop);
    stream.once('close', () => {
      clearTimeout(drain);
      resolve(Buffer.concat(chunks));
    });
  });
}
