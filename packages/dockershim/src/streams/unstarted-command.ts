import { gatherBytes, PodwrightError } from '@podwright/base';
import { MAX_ERROR_BYTES } from '../limits.ts';
import type { EngineStreams } from './engine-streams.ts';

/** What shells exit with for a command that is not there, and for one that may not be executed (POSIX.1, 2.8.2). */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

/** Why a command could not be started, which the Engine writes where the command's output would be, and what stands for its exit code. */
export type UnstartedCommand = { reason: string; exitCode: number };

/** Reads it to its end. */
export async function unstartedCommand({ stdout }: EngineStreams): Promise<UnstartedCommand> {
  const tooLong = () => new PodwrightError('resource_exhausted', 'the reason is too long');
  const said = await gatherBytes(stdout, MAX_ERROR_BYTES, tooLong).catch((error: Error) => error.message);
  const reason = said.toString().trim() || 'the Docker Engine does not say why the command could not be started';
  return { reason, exitCode: exitCodeOf(reason) };
}

/** By the words of the OCI runtime and the kernel: Docker 20.10 says 126 of both. */
export function exitCodeOf(reason: string): number {
  return /executable file not found|no such file or directory/i.test(reason) ? NOT_FOUND : NOT_EXECUTABLE;
}
