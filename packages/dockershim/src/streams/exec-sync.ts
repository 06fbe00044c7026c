import { finished } from 'node:stream';
import { BoundedBytes, type ByteShare, type ErrorCode, PodwrightError, raceAbort, withTimeout } from '@podwright/base';
import { fitExecOutput, MAX_EXEC_OUTPUT_BYTES } from '@podwright/cri';
import type { Engine } from '../engine/engine.ts';
import { abandon, type StartedExec, startExec } from './exec-session.ts';

/**
 * How long a caller waits for the command to be killed after the timeout. Killing takes noticeable time only if the Engine does not
 * respond.
 */
const MAX_KILL_MS = 2000;

/** A `timeoutSeconds` of 0 means no timeout. stdout and stderr are each truncated at `maxOutputBytes`, or earlier if `memory` runs out. */
export type SyncCommand = {
  containerId: string;
  command: string[];
  timeoutSeconds: number;
  maxOutputBytes?: number;
  memory?: Pick<ByteShare, 'reserve'>;
};

export type SyncResult = { stdout: Buffer; stderr: Buffer; exitCode: number };

/**
 * Runs a command to completion. Kills it if its timeout expires (`deadline_exceeded`) or the caller cancels. If the command cannot be
 * started, throws `unknown` with the OCI runtime's reason.
 */
export async function execSync(
  engine: Pick<Engine, 'exec'>,
  { containerId, command, timeoutSeconds, ...bounds }: SyncCommand,
  caller: AbortSignal,
): Promise<SyncResult> {
  const timeoutMs = timeoutSeconds * 1000;
  using limit = timeoutMs > 0 ? withTimeout(caller, timeoutMs, 'wait for the command') : undefined;
  const signal = limit ?? caller;
  const choice = { stdin: false, stdout: true, stderr: true, tty: false };
  const started = await startExec(engine, { containerId, command, choice }, signal);
  try {
    return await result(started, { containerId, ...bounds }, signal);
  } catch (error) {
    if (signal.aborted) await raceAbort(abandon(started), AbortSignal.timeout(MAX_KILL_MS)).catch(() => undefined);
    throw error;
  }
}

async function result(
  { process, streams }: StartedExec,
  { containerId, maxOutputBytes = MAX_EXEC_OUTPUT_BYTES, memory }: Omit<SyncCommand, 'command' | 'timeoutSeconds'>,
  signal: AbortSignal,
) {
  const gather = (output = streams.stdout) => {
    const gathered = new BoundedBytes(Math.min(maxOutputBytes, MAX_EXEC_OUTPUT_BYTES), memory);
    output.on('data', (chunk: Buffer) => gathered.add(chunk));
    return { gathered, read: new Promise<void>((resolve) => finished(output, () => resolve())) };
  };
  const outputs = [gather(), gather(streams.stderr)];
  const broken = await raceAbort(streams.over, signal);
  const failure = (code: ErrorCode, reason: string) =>
    new PodwrightError(code, `exec in container ${containerId}: ${reason.trim()}`);
  if (broken !== undefined) throw failure('unavailable', broken.message);
  const { exitCode, hasRun } = await process.ended(signal);
  await Promise.all(outputs.map(({ read }) => read));
  const [stdout, stderr] = outputs.map(({ gathered }) => gathered.bytes()) as [Buffer, Buffer];
  if (!hasRun) throw failure('unknown', stdout.toString('utf8'));
  return { ...fitExecOutput({ stdout, stderr }), exitCode };
}
