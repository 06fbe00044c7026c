import { gatherBytes, PodwrightError } from '@podwright/base';
import { MAX_ERROR_BYTES } from '../limits.ts';
import type { EngineStreams } from './engine-streams.ts';

/**
 * Exit code that shells use for a command that does not exist. For one that cannot be executed, they use `NOT_EXECUTABLE` (POSIX.1, 2.8.2).
 */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

/**
 * Why a command could not be started, and the exit code that a shell would report for it. The Engine sends the reason in place of the
 * command's output.
 */
export type UnstartedCommand = { reason: string; exitCode: number };

/** Reads the reason from the Engine's output. */
export async function unstartedCommand({ stdout }: EngineStreams): Promise<UnstartedCommand> {
  const tooLong = () => new PodwrightError('resource_exhausted', 'the reason is too long');
  const said = await gatherBytes(stdout, MAX_ERROR_BYTES, tooLong).catch((error: Error) => error.message);
  const reason = said.toString().trim() || 'the Docker Engine does not say why the command could not be started';
  return { reason, exitCode: exitCodeOf(reason) };
}

/**
 * Derives the exit code that a shell would report from the OCI runtime's message: 127 for a missing command, 126 for one that cannot be
 * executed. Docker 20.10 itself reports 126 for both.
 */
export function exitCodeOf(reason: string): number {
  return /executable file not found|no such file or directory/i.test(reason) ? NOT_FOUND : NOT_EXECUTABLE;
}
