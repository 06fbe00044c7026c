import type { RemoteProcess, StreamChoice } from '@podwright/streaming';
import type { EngineStreams } from './engine-streams.ts';

/** The streams that a client asked for; what it did not ask for is drained, so that the process never waits for a reader. */
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

/** Gives a terminal one size after the other; of those that come meanwhile the last one counts. Failures change nothing. */
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
