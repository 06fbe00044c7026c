import type { Duplex } from 'node:stream';
import { raceAbort, withTimeout, wrapError } from '@podwright/base';
import { STREAMS_TIMEOUT_MS } from '../limits.ts';
import type { CountBuffer } from '../read-buffers.ts';
import type { StreamChoice } from '../remote-process.ts';
import { SpdyConnection } from '../spdy/connection.ts';
import type { SpdyStream } from '../spdy/stream.ts';
import { hasResize, hasStructuredStatus } from './protocols.ts';
import type { CommandStreams } from './session.ts';

function expectedStreams(choice: StreamChoice, protocol: string): Set<string> {
  const names = new Set(['error']);
  if (choice.stdin) names.add('stdin');
  if (choice.stdout) names.add('stdout');
  if (choice.stderr && !choice.tty) names.add('stderr');
  if (choice.tty && hasResize(protocol)) names.add('resize');
  return names;
}

export type SpdyCommandRequest = {
  choice: StreamChoice;
  protocol: string;
  head: Buffer;
  countBuffer?: CountBuffer;
  /** How long the client may take to open its streams. Default: 30 s. */
  streamsTimeoutMs?: number;
};

/**
 * Waits for the client to open the streams of a remote command on an upgraded connection. Rejects with `deadline_exceeded` if the client
 * does not open them in time, and with `unavailable` if it disconnects; either way, the connection is closed.
 */
export async function acceptSpdyCommand(
  transport: Duplex,
  request: SpdyCommandRequest,
): Promise<{ streams: CommandStreams; connection: SpdyConnection }> {
  const expected = expectedStreams(request.choice, request.protocol);
  const found = new Map<string, SpdyStream>();
  const { promise: complete, resolve } = Promise.withResolvers<void>();
  const onStream = (stream: SpdyStream) => {
    const type = stream.headers.streamtype ?? '';
    if (!expected.has(type) || found.has(type)) return 'refuse';
    found.set(type, stream);
    if (found.size === expected.size) resolve();
    return 'accept';
  };
  const { head, countBuffer } = request;
  const connection = new SpdyConnection(transport, { role: 'server', onStream, head, countBuffer });
  const what = `wait for the client's streams ${[...expected].join(', ')}`;
  try {
    using deadline = withTimeout(connection.gone, request.streamsTimeoutMs ?? STREAMS_TIMEOUT_MS, what);
    await raceAbort(complete, deadline);
  } catch (error) {
    const missing = [...expected].filter((name) => !found.has(name)).join(', ');
    connection.close();
    throw wrapError(`${missing} were not opened`, error);
  }
  return { streams: commandStreams(found, { connection, protocol: request.protocol }), connection };
}

function commandStreams(
  found: Map<string, SpdyStream>,
  { connection, protocol }: { connection: SpdyConnection; protocol: string },
): CommandStreams {
  // data that a client writes to output streams is discarded, so that it does not accumulate
  for (const name of ['stdout', 'stderr', 'error']) found.get(name)?.resume();
  return {
    stdin: found.get('stdin'),
    stdout: found.get('stdout'),
    stderr: found.get('stderr'),
    resize: found.get('resize'),
    error: found.get('error')!,
    structuredStatus: hasStructuredStatus(protocol),
    gone: connection.gone,
  };
}
