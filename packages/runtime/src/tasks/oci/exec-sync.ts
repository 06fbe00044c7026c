import type { Readable } from 'node:stream';
import { runtimeError } from '../../oci-runtime/runtime-error.ts';
import { collectExec, type ExecResult } from '../collect-exec.ts';
import { type ExecRequest, startExec } from './exec-process.ts';

/** Runs a command in a task until it exits. An abort kills the whole process tree, and its reason is thrown. */
export async function execSync(request: ExecRequest, signal: AbortSignal): Promise<ExecResult> {
  signal.throwIfAborted();
  const exec = startExec(request, ['ignore', 'pipe', 'pipe']);
  const [, stdout, stderr] = exec.child.stdio as [null, Readable, Readable];
  try {
    const { what, exited, logger } = exec;
    const running = { what, stdout, stderr, exited, pid: () => exec.pid(), kill: () => exec.kill(), logger };
    const result = await collectExec(running, signal);
    // If no process was started, output and exit code are the runtime's.
    if ((await exec.pid()) === undefined) throw runtimeError(exec.what, result.stderr.toString('utf8'));
    return result;
  } finally {
    await exec.removeFiles();
  }
}
