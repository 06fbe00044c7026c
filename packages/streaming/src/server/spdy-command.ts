import type { Duplex } from 'node:stream';
import type { StreamChoice } from '../remote-process.ts';
import { SpdyConnection, type SpdyStream } from '../spdy/connection.ts';
import { hasResize, hasStructuredStatus } from './protocols.ts';
import type { CommandStreams } from './session.ts';

/** How long a client may take to open the streams it announced. */
const STREAMS_TIMEOUT_MS = 30_000;

/** Names of the streams that a client opens for what it asked. */
function expectedStreams(choice: StreamChoice, protocol: string): Set<string> {
  const names = new Set(['error']);
  if (choice.stdin) names.add('stdin');
  if (choice.stdout) names.add('stdout');
  if (choice.stderr && !choice.tty) names.add('stderr');
  if (choice.tty && hasResize(protocol)) names.add('resize');
  return names;
}

/** Waits for the streams of a remote command on an upgraded connection; rejects if they do not come. */
export async function acceptSpdyCommand(
  transport: Duplex,
  request: { choice: StreamChoice; protocol: string; head: Buffer },
): Promise<{ streams: CommandStreams; connection: SpdyConnection }> {
  const expected = expectedStreams(request.choice, request.protocol);
  const found = new Map<string, SpdyStream>();
  const { promise: complete, resolve, reject } = Promise.withResolvers<void>();
  const onStream = (stream: SpdyStream) => {
    const type = stream.headers.streamtype ?? '';
    if (!expected.has(type) || found.has(type)) return 'refuse';
    stream.on('error', () => undefined); // a reset stream shows as the end of its data
    found.set(type, stream);
    if (found.size === expected.size) resolve();
    return 'accept';
  };
  const connection = new SpdyConnection(transport, { role: 'server', onStream, head: request.head });
  const timer = setTimeout(
    () => reject(new Error(`the client opened ${found.size} of ${expected.size} streams`)),
    STREAMS_TIMEOUT_MS,
  );
  connection.closed.then(() => reject(new Error('the client went away before its streams were open')));
  try {
    await complete;
  } finally {
    clearTimeout(timer);
  }
  const streams: CommandStreams = {
    stdin: found.get('stdin'),
    stdout: found.get('stdout'),
    stderr: found.get('stderr'),
    resize: found.get('resize'),
    error: found.get('error')!,
    structuredStatus: hasStructuredStatus(request.protocol),
    gone: connection.closed,
  };
  return { streams, connection };
}
