/** Reads the logs of a pod's containers into one log. */

import { pause } from '../api/follow-list.ts';
import { linesOf } from '../api/lines.ts';
import { ApiError, messageOf, send } from '../api/request.ts';
import { builtIn, pathOf } from '../api/resources.ts';
import { stream } from '../api/stream.ts';
import { type LogLine, logLine } from './log-line.ts';

export type LogRequest = {
  namespace: string;
  name: string;
  containers: readonly string[];
  /** Lines of each container, from the end; undefined for all. */
  tailLines?: number;
  isFollowing: boolean;
  /** Of the run before the present one. */
  isPrevious: boolean;
};

export type LogReceiver = {
  add(lines: LogLine[]): void;
  /** What became of a container's stream; '' while it is read. */
  setState(source: number, state: string): void;
};

const POD = builtIn('Pod');
const RETRY_MS = 2000;
/** Longer lines are cut. */
const MAX_LINE_CHARACTERS = 64 << 10;

/** Reads until the signal aborts or, without following, to the ends. */
export async function readLogs(request: LogRequest, receiver: LogReceiver, signal: AbortSignal): Promise<void> {
  await Promise.all(request.containers.map((_name, source) => readOne(request, source, { receiver, signal })));
}

type Reading = { receiver: LogReceiver; signal: AbortSignal };

async function readOne(request: LogRequest, source: number, { receiver, signal }: Reading): Promise<void> {
  let since: string | undefined;
  while (!signal.aborted) {
    const from = since; // lines of one write have the same time, so later batches may begin with it
    try {
      for await (const lines of linesOf(chunksOf(request, { source, since, signal }), MAX_LINE_CHARACTERS)) {
        const read = lines
          .map((line) => logLine(line, source))
          .filter((line) => from === undefined || line.time > from);
        receiver.setState(source, '');
        receiver.add(read);
        since = read.at(-1)?.time || since;
      }
      receiver.setState(source, 'ended');
      if (!request.isFollowing) return;
    } catch (error) {
      if (signal.aborted) return;
      receiver.setState(source, messageOf(error));
      if (!request.isFollowing || (error instanceof ApiError && error.code === 403)) return;
    }
    // the container may start (again), and the connection may come back
    await pause(RETRY_MS, signal);
  }
}

type Place = { source: number; since?: string; signal: AbortSignal };

async function* chunksOf(
  { namespace, name, containers, tailLines, isFollowing, isPrevious }: LogRequest,
  { source, since, signal }: Place,
): AsyncGenerator<Uint8Array> {
  const path = pathOf(POD, { namespace, name, subresource: 'log' });
  const query = {
    container: containers[source],
    timestamps: true,
    follow: isFollowing || undefined,
    previous: isPrevious || undefined,
    ...(since === undefined ? { tailLines } : { sinceTime: since }),
  };
  // a followed log is open for long, and a browser has few connections; others may be large, and are read as fast as they are shown
  if (isFollowing) return yield* stream(path, { query, signal });
  const { body } = await send(path, { query, accept: 'text/plain, */*', signal });
  const reader = body!.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
}
