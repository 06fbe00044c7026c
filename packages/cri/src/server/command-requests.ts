import { PodwrightError } from '@podwright/base';

/** Maximum output in an ExecSync response: the 16 MiB limit of a CRI message, minus a reserve for the other fields. */
export const MAX_EXEC_OUTPUT_BYTES = (16 << 20) - 1024;

/**
 * Maximum output that a runtime holds for all concurrent ExecSync calls, enough for a few calls with the maximum output. Output beyond that
 * is dropped, apart from the first 4 KiB of each stream.
 */
export const MAX_EXEC_OUTPUT_TOTAL_BYTES = 64 << 20;

/** Throws `invalid_argument` for an empty command. */
export function requireCommand(command: string[]): void {
  if (command.length === 0) throw new PodwrightError('invalid_argument', 'exec: the command is empty');
}

/**
 * Throws `invalid_argument` if no stream, or an impossible combination of streams, is requested. `attempted` prefixes the error message.
 */
export function requireStreams(
  attempted: string,
  { tty, stdin, stdout, stderr }: { tty: boolean; stdin: boolean; stdout: boolean; stderr: boolean },
): void {
  if (tty && stderr) throw new PodwrightError('invalid_argument', `${attempted}: a terminal has no separate stderr`);
  if (!stdin && !stdout && !stderr)
    throw new PodwrightError('invalid_argument', `${attempted}: one of stdin, stdout, stderr must be requested`);
}

type Output = { stdout: Buffer; stderr: Buffer };

/** Truncates the output to fit in one response, so that a command with too much output still reports its exit code. */
export function fitExecOutput({ stdout, stderr }: Output, maxBytes = MAX_EXEC_OUTPUT_BYTES): Output {
  const kept = stdout.subarray(0, maxBytes - Math.min(stderr.length, maxBytes / 2));
  return { stdout: kept, stderr: stderr.subarray(0, maxBytes - kept.length) };
}
