import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage, PodwrightError, runProgram, wrapError } from '@podwright/base';
import { globalArguments, type OciRuntime, readOciStatus, runOciCommand } from '../../oci-runtime/oci-program.ts';
import { runtimeError } from '../../oci-runtime/runtime-error.ts';
import type { TaskCheckpoint } from '../task-runtime.ts';

/** Where CRIU says what it did. */
const DUMP_LOG = 'dump.log';

/** Freezes the task, has its memory written by the OCI runtime and CRIU, calls `frozen`, and lets the task go on. */
export async function checkpointTask(runtime: OciRuntime, id: string, wanted: TaskCheckpoint): Promise<void> {
  await runOciCommand(runtime, ['pause', id]);
  try {
    await dump(runtime, id, wanted);
    await wanted.frozen();
  } finally {
    await thawTask(runtime, id);
  }
}

/** Lets a frozen task go on. No error for one that is not frozen. */
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
  const said = errorMessage(failed).replace(/\s*log file: \S+/, ''); // that file goes with all that was collected
  const advice = "'criu check' tells whether this CRIU works on this kernel";
  throw wrapError(`${said}: CRIU says`, `${await firstError(join(work, DUMP_LOG))}; ${advice}`, 'internal');
}

/** How CRIU begins the line of an error, after the time and a process: other lines have paths of the container's. */
const CRIU_ERROR = /^\(\d+\.\d+\)\s+(?:\d+:\s+)?Error \(/;
const MAX_CRIU_ERROR = 300;

/** The first line of CRIU's log that is an error: those after it are its consequences. */
async function firstError(log: string): Promise<string> {
  const text = await readFile(log, 'utf8').catch(() => '');
  const line = text.split('\n').find((one) => CRIU_ERROR.test(one));
  return line?.slice(0, MAX_CRIU_ERROR).trim() ?? 'nothing';
}
