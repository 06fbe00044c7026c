import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { PodwrightError, wrapError } from '@podwright/base';
import type { OciRuntime } from './oci-program.ts';
import { killProcessTree } from './processes.ts';
import { runtimeError } from './runtime-words.ts';

/** The most that is kept of each of stdout and stderr: what a CRI client accepts in one answer. */
const maxOutputBytes = 16 * 1024 * 1024;
/** How long output is still read after the process has ended while one of its children holds the pipe open. */
const drainMs = 1_000;

export type ExecSyncRequest = { runtime: OciRuntime; state: string; id: string; command: string[] };

/** Runs a command in a task to its end. With a timeout, the whole process tree is killed and `deadline_exceeded` thrown. */
export async function execSync(
  { runtime, state, id, command }: ExecSyncRequest,
  timeoutMs: number,
): Promise<{ stdout: Buffer; stderr: Buffer; exitCode: number }> {
  const pidFile = join(state, `exec-${randomUUID()}.pid`);
  const what = `run ${JSON.stringify(command[0])} in task ${id}`;
  const child = spawn(runtime.path, ['--root', runtime.root, 'exec', '--pid-file', pidFile, id, ...command], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let timedOut = false;
  const timer = setTimeout(
    () => {
      timedOut = true;
      killExec(child, pidFile).catch(() => undefined);
    },
    timeoutMs || 2 ** 31 - 1,
  );
  try {
    const [stdout, stderr, exitCode] = await Promise.all([
      collect(child.stdout as Readable),
      collect(child.stderr as Readable),
      ended(child, what),
    ]);
    if (timedOut) throw new PodwrightError('deadline_exceeded', `${what}: not done within ${timeoutMs} ms, killed`);
    // The runtime writes the file once the process runs: without it, output and exit code are the runtime's own.
    if ((await readExecPid(pidFile)) === undefined) throw runtimeError(what, stderr.toString('utf8'));
    return { stdout, stderr, exitCode };
  } finally {
    clearTimeout(timer);
    await rm(pidFile, { force: true });
  }
}

/** Kills an exec: first what runs in the task, which is no child of the runtime's once that is dead. */
export async function killExec(child: ChildProcess, pidFile: string): Promise<void> {
  const pid = await readExecPid(pidFile);
  if (pid !== undefined) await killProcessTree(pid);
  if (child.pid !== undefined && child.exitCode === null) await killProcessTree(child.pid);
}

/** The pid of an exec's process, `undefined` before it runs. */
export async function readExecPid(pidFile: string): Promise<number | undefined> {
  const text = await readFile(pidFile, 'utf8').catch(() => '');
  return /^\d+$/.test(text.trim()) ? Number(text) : undefined;
}

function ended(child: ChildProcess, what: string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(wrapError(what, error, 'internal')));
    child.once('exit', (code) => {
      resolve(code ?? 137);
      setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, drainMs).unref();
    });
  });
}

/** Reads to the end and keeps the first 16 MiB, so that a program that writes more is neither stopped nor a danger. */
function collect(stream: Readable): Promise<Buffer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    stream.on('data', (chunk: Buffer) => {
      if (size < maxOutputBytes) chunks.push(chunk.subarray(0, maxOutputBytes - size));
      size += chunk.length;
    });
    stream.once('close', () => resolve(Buffer.concat(chunks)));
  });
}
