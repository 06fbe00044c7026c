import { Readable } from 'node:stream';
import type { RemoteProcess } from './remote-process.ts';

/**
 * The reason why a command could not be started, and the exit code that a shell would report for it. `tty`: whether a terminal was
 * requested.
 */
export type UnstartedCommand = { reason: string; exitCode: number; tty: boolean };

/**
 * Creates a substitute process for a command that could not be started. The substitute prints the reason and exits as a shell would, so
 * that clients can distinguish this from a runtime failure.
 */
export function standInFor({ reason, exitCode, tty }: UnstartedCommand): RemoteProcess {
  const output = Readable.from([Buffer.from(`${reason}${tty ? '\r\n' : '\n'}`)]);
  return {
    stdin: undefined,
    stdout: tty ? output : undefined,
    stderr: tty ? undefined : output,
    resize: () => undefined,
    exit: Promise.resolve(exitCode),
    close: () => undefined,
  };
}
