import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage, PodwrightError, wrapError } from '@podwright/base';
import { runProgram } from '@podwright/host';
import { globalArguments, type OciRuntime, readOciStatus, runOciCommand } from '../../oci-runtime/oci-program.ts';
import { runtimeError } from '../../oci-runtime/runtime-error.ts';
import type { TaskCheckpoint } from '../task-runtime.ts';

/** Name of CRIU's log file. */
const DUMP_LOG = 'dump.log';

/** Freezes the task, has the OCI runtime and CRIU dump its memory, calls `frozen`, and thaws the task. */
export async function checkpointTask(runtime: OciRuntime, id: string, checkpoint: TaskCheckpoint): Promise<void> {
  await runOciCommand(runtime, ['pause', id]);
  try {
    await dump(runtime, id, checkpoint);
    await checkpoint.frozen();
  } finally {
    await thawTask(runtime, id);
  }
}

/** Thaws the task if it is frozen. */
export async function thawTask(runtime: OciRuntime, id: string): Promise<void> {
  if ((await readOciStatus(runtime, id)) === 'paused') await runOciCommand(runtime, ['resume', id]);
}

async function dump(runtime: OciRuntime, id: string, { images, work, signal }: TaskCheckpoint): Promise<void> {
  const directories = ['--image-path', images, '--work-path', work];
  const args = [...globalArguments(runtime), 'checkpoint', ...directories, '--leave-running', id];
  const { exitCode, stderr } = await runProgram(runtime.path, args, { signal });
  if (exitCode === 0) return;
  const what = `checkpoint task ${id} with ${runtime.name}`;
  const failed = runtimeError(what, stderr);
  if (failed.code === 'unimplemented')
    throw new PodwrightError('unimplemented', `${what}: it was built without CRIU; use runc, or a crun that has it`);
  const text = errorMessage(failed).replace(/\s*log file: \S+/, ''); // that file is removed with the rest of the checkpoint
  const advice = "'criu check' shows whether this CRIU works on this kernel";
  throw wrapError(`${text}: CRIU says`, `${await firstError(join(work, DUMP_LOG))}; ${advice}`, 'internal');
}

/**
 * Matches the start of an error line in CRIU's log, after the time and a PID. Anchored to the start because other lines contain paths from
 * the container.
 */
const CRIU_ERROR = /^\(\d+\.\d+\)\s+(?:\d+:\s+)?Error \(/;
const MAX_CRIU_ERROR = 300;

/** Returns the first error line in CRIU's log, which caused any later ones. */
async function firstError(log: string): Promise<string> {
  const text = await readFile(log, 'utf8').catch(() => '');
  const line = text.split('\n').find((one) => CRIU_ERROR.test(one));
  return line?.slice(0, MAX_CRIU_ERROR).trim() ?? 'nothing';
}
