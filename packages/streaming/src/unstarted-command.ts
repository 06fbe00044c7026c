import { Readable } from 'node:stream';
import type { RemoteProcess } from './remote-process.ts';

/** A command that could not be started: why, and the exit code that a shell has for that. `tty`: whether it was to have a terminal. */
export type UnstartedCommand = { reason: string; exitCode: number; tty: boolean };

/**
 * What stands for a command that could not be started on a client's streams: its one output is the reason, and it exits as it would
 * from a shell, so that clients tell it from a failure of ours.
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
