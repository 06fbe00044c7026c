import { PodwrightError } from '@podwright/base';

/** A CRI message has 16 MiB at most; some room is left for what is around the output. */
export const MAX_EXEC_OUTPUT_BYTES = (16 << 20) - 1024;

/** Refuses a command without a program: `invalid_argument`. */
export function requireCommand(command: string[]): void {
  if (command.length === 0) throw new PodwrightError('invalid_argument', 'exec: the command is empty');
}

/** Refuses streams that cannot be had, or none: `invalid_argument`. `attempted` is at the head of the error. */
export function requireStreams(
  attempted: string,
  { tty, stdin, stdout, stderr }: { tty: boolean; stdin: boolean; stdout: boolean; stderr: boolean },
): void {
  if (tty && stderr) throw new PodwrightError('invalid_argument', `${attempted}: a terminal has no stderr of its own`);
  if (!stdin && !stdout && !stderr)
    throw new PodwrightError('invalid_argument', `${attempted}: one of stdin, stdout, stderr must be asked for`);
}

type Output = { stdout: Buffer; stderr: Buffer };

/** Output cut to what one answer takes, so that a command which writes much still tells its exit code. */
export function fitExecOutput({ stdout, stderr }: Output, maxBytes = MAX_EXEC_OUTPUT_BYTES): Output {
  const kept = stdout.subarray(0, maxBytes - Math.min(stderr.length, maxBytes / 2));
  return { stdout: kept, stderr: stderr.subarray(0, maxBytes - kept.length) };
}
