import type { RemoteProcess, StreamChoice } from '@podwright/streaming';
import type { EngineStreams } from './engine-streams.ts';

/** Returns the streams requested by the client. Drains the process's other streams so that the process does not block. */
export function remoteStreams(
  { stdin, stdout, stderr }: EngineStreams,
  choice: StreamChoice,
): Pick<RemoteProcess, 'stdin' | 'stdout' | 'stderr'> {
  if (!choice.stdout) stdout.resume();
  if (!choice.stderr) stderr?.resume();
  return {
    stdin: choice.stdin ? stdin : undefined,
    stdout: choice.stdout ? stdout : undefined,
    stderr: choice.stderr ? stderr : undefined,
  };
}

/** A terminal's size in characters. */
export type Size = { columns: number; rows: number };

/**
 * Returns a function that resizes a terminal, one call at a time. Sizes that arrive during a call are coalesced into the last one. Failures
 * are ignored.
 */
export function resizer(resize: (size: Size) => Promise<void>): (columns: number, rows: number) => void {
  let wanted: Size | undefined;
  let isBusy = false;
  const work = async () => {
    isBusy = true;
    for (let size = wanted; size !== undefined; size = wanted) {
      wanted = undefined;
      await resize(size).catch(() => undefined);
    }
    isBusy = false;
  };
  return (columns, rows) => {
    wanted = { columns, rows };
    if (!isBusy) void work();
  };
}
