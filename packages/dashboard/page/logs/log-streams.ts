/** Reads the logs of a pod's containers. */
import { linesOf } from '../api/lines.ts';
import { ApiError, messageOf, send } from '../api/request.ts';
import { builtIn, pathOf } from '../api/resources.ts';
import { pause } from '../api/retry-delay.ts';
import { stream } from '../api/stream.ts';
import { type LogLine, logLine } from './log-line.ts';
import { LogPosition } from './log-position.ts';

export type LogRequest = {
  namespace: string;
  name: string;
  containers: readonly string[];
  /** Number of lines to read from the end of each container's log. Undefined for all lines. */
  tailLines?: number;
  isFollowing: boolean;
  /** Whether to read the log of each container's previous instance, as with `kubectl logs --previous`. */
  isPrevious: boolean;
};

/** Receives the lines of containers' logs, and the states of the log streams. `source`: the index of the container in the request. */
export type LogReceiver = {
  add(lines: LogLine[]): void;
  /** Reports the state of a container's stream: '' while reading, `ended`, or an error message. */
  setState(source: number, state: string): void;
};

const POD = builtIn('Pod');
const RETRY_MS = 2000;
/** Maximum length of a line. Longer lines are truncated. */
const MAX_LINE_CHARACTERS = 64 << 10;

/** Reads until the signal aborts or, if the log is not followed, to the end of every container's log. Never rejects. */
export async function readLogs(request: LogRequest, receiver: LogReceiver, signal: AbortSignal): Promise<void> {
  await Promise.all(request.containers.map((_name, source) => readOne(request, source, { receiver, signal })));
}

type ReadOptions = { receiver: LogReceiver; signal: AbortSignal };

async function readOne(request: LogRequest, source: number, { receiver, signal }: ReadOptions): Promise<void> {
  const position = new LogPosition();
  while (!signal.aborted) {
    const since = position.resume();
    try {
      for await (const lines of linesOf(chunksOf(request, { source, since, signal }), MAX_LINE_CHARACTERS)) {
        receiver.setState(source, '');
        receiver.add(position.unread(lines.map((line) => logLine(line, source))));
      }
      receiver.setState(source, 'ended');
      if (!request.isFollowing) return;
    } catch (error) {
      if (signal.aborted) return;
      receiver.setState(source, messageOf(error));
      if (!request.isFollowing || (error instanceof ApiError && error.code === 403)) return;
    }
    // the container might start later or restart, or the connection might recover
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
  // a followed log stays open for a long time, and browsers limit the number of connections; other logs might be large, and fetch applies
  // backpressure
  if (isFollowing) return yield* stream(path, { query, signal });
  const { body } = await send(path, { query, accept: 'text/plain, */*', signal });
  const reader = body!.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
}
