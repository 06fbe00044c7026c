import type { Readable } from 'node:stream';
import { runtimeError } from '../../oci-runtime/runtime-error.ts';
import { collectExec, type ExecResult } from '../collect-exec.ts';
import { type ExecRequest, startExec } from './exec-process.ts';

/** Runs a command in a task to its end. When the signal aborts, the whole process tree is killed and the reason thrown. */
export async function execSync(request: ExecRequest, signal: AbortSignal): Promise<ExecResult> {
  signal.throwIfAborted();
  const exec = startExec(request, ['ignore', 'pipe', 'pipe']);
  const [, stdout, stderr] = exec.child.stdio as [null, Readable, Readable];
  try {
    const { what, exited, logger } = exec;
    const running = { what, stdout, stderr, exited, pid: () => exec.pid(), kill: () => exec.kill(), logger };
    const result = await collectExec(running, signal);
    // Without the process, output and exit code are the runtime's own.
    if ((await exec.pid()) === undefined) throw runtimeError(exec.what, result.stderr.toString('utf8'));
    return result;
  } finally {
    await exec.removeFiles();
  }
}
