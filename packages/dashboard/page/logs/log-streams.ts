/** Reads the logs of a pod's containers. */
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
  /** Number of last lines of each container that are read; undefined for all. */
  tailLines?: number;
  isFollowing: boolean;
  /** Whether to read the logs of the previous run of each container. */
  isPrevious: boolean;
};

/** Receives lines and states. `source` is the index of the container in the request. */
export type LogReceiver = {
  add(lines: LogLine[]): void;
  /** Reports the state of a container's stream: '' while it is read, `ended`, or the message of an error. */
  setState(source: number, state: string): void;
};

const POD = builtIn('Pod');
/** Pause before the log of a container is requested again. */
const RETRY_MS = 2000;
/** Maximum length of a line. Longer lines are cut. */
const MAX_LINE_CHARACTERS = 64 << 10;

/** Reads until the signal aborts or, if the log is not followed, to the end of each container's log. Never rejects. */
export async function readLogs(request: LogRequest, receiver: LogReceiver, signal: AbortSignal): Promise<void> {
  await Promise.all(request.containers.map((_name, source) => readOne(request, source, { receiver, signal })));
}

type ReadOptions = { receiver: LogReceiver; signal: AbortSignal };

async function readOne(request: LogRequest, source: number, { receiver, signal }: ReadOptions): Promise<void> {
  let since: string | undefined;
  while (!signal.aborted) {
    // fixed for this stream: lines may share a timestamp, so a later chunk may begin with that of the last line
    const from = since;
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
    // the container may start later or restart, or the connection may work again
    await pause(RETRY_MS, signal);
  }
}

type StreamPosition = { source: number; since?: string; signal: AbortSignal };

async function* chunksOf(
  { namespace, name, containers, tailLines, isFollowing, isPrevious }: LogRequest,
  { source, since, signal }: StreamPosition,
): AsyncGenerator<Uint8Array> {
  const path = pathOf(POD, { namespace, name, subresource: 'log' });
  const query = {
    container: containers[source],
    timestamps: true,
    follow: isFollowing || undefined,
    previous: isPrevious || undefined,
    ...(since === undefined ? { tailLines } : { sinceTime: since }),
  };
  // a followed log is open for long, and browsers open few connections; another log may be large, and fetch reads it only as fast as it is
  // shown
  if (isFollowing) return yield* stream(path, { query, signal });
  const { body } = await send(path, { query, accept: 'text/plain, */*', signal });
  const reader = body!.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
}
