import type { Duplex } from 'node:stream';
import { errorMessage } from '@podwright/base';
import { SpdyConnection, type SpdyStream } from '../spdy/connection.ts';

/** Opens a byte connection to a port of the pod. */
export type PortDialer = (port: number, signal: AbortSignal) => Promise<Duplex>;

/** How long half a pair may wait for its other half. */
const PAIR_TIMEOUT_MS = 30_000;

type Pair = { error?: SpdyStream; data?: SpdyStream; timer: NodeJS.Timeout };

/**
 * Serves `portforward.k8s.io` on an upgraded connection: for each forwarded connection the client opens an error and
 * a data stream with the same `requestID` and `port`. A failed connection is told on its error stream; the others go on.
 */
export async function servePortForward(transport: Duplex, options: { dial: PortDialer; head: Buffer }): Promise<void> {
  const pairs = new Map<string, Pair>();
  const gone = new AbortController();
  const onStream = (stream: SpdyStream) => {
    const { streamtype, port, requestid } = stream.headers;
    const number = Number(port);
    if ((streamtype !== 'error' && streamtype !== 'data') || !Number.isInteger(number) || number < 1 || number > 65_535)
      return 'refuse';
    stream.on('error', () => undefined);
    // The oldest clients send no request id: then the port pairs the streams.
    const key = requestid ?? port!;
    const pair = pairs.get(key) ?? { timer: setTimeout(() => drop(pairs, key), PAIR_TIMEOUT_MS) };
    if (pair[streamtype] !== undefined) return 'refuse';
    pair[streamtype] = stream;
    pairs.set(key, pair);
    const { error, data } = pair;
    if (error !== undefined && data !== undefined) {
      clearTimeout(pair.timer);
      pairs.delete(key);
      void forward(options.dial, { error, data, port: number, signal: gone.signal });
    }
    return 'accept';
  };
  const connection = new SpdyConnection(transport, { role: 'server', onStream, head: options.head });
  await connection.closed;
  gone.abort();
  for (const key of [...pairs.keys()]) drop(pairs, key);
}

function drop(pairs: Map<string, Pair>, key: string): void {
  const pair = pairs.get(key);
  pairs.delete(key);
  clearTimeout(pair?.timer);
  pair?.error?.destroy();
  pair?.data?.destroy();
}

async function forward(
  dial: PortDialer,
  pair: { error: SpdyStream; data: SpdyStream; port: number; signal: AbortSignal },
): Promise<void> {
  const { error, data, port, signal } = pair;
  let socket: Duplex;
  try {
    socket = await dial(port, signal);
  } catch (cause) {
    error.end(`error forwarding port ${port} to the pod: ${errorMessage(cause)}`);
    data.destroy();
    return;
  }
  const close = () => socket.destroy();
  signal.addEventListener('abort', close, { once: true });
  // Each direction ends on its own (half-close); a broken one takes the other along.
  socket.on('error', () => data.destroy());
  data.on('close', close);
  data.pipe(socket);
  socket.pipe(data);
  socket.on('close', () => {
    signal.removeEventListener('abort', close);
    error.end();
    if (!data.writableEnded) data.end();
  });
}
