import type { Duplex } from 'node:stream';
import { errorMessage, withTimeout } from '@podwright/base';
import { DIAL_TIMEOUT_MS, PAIR_TIMEOUT_MS } from '../limits.ts';
import { SpdyConnection } from '../spdy/connection.ts';
import { type JoinableStream, joinStream } from '../spdy/join-stream.ts';
import type { SpdyStream } from '../spdy/stream.ts';

/**
 * Opens a byte connection to a port of the pod, which must allow to be half open. `signal` ends the attempt, not the
 * connection. Errors: any; the client gets their messages.
 */
export type PortDialer = (port: number, signal: AbortSignal) => Promise<Duplex>;

type Pair = { error?: SpdyStream; data?: SpdyStream; timer: NodeJS.Timeout };

/**
 * Serves `portforward.k8s.io` on an upgraded connection: for each forwarded connection the client opens an error and
 * a data stream with the same `requestID` and `port`. A failed connection is told on its error stream; the others go on.
 * Resolves when the client is gone.
 */
export async function servePortForward(transport: Duplex, options: { dial: PortDialer; head: Buffer }): Promise<void> {
  const pairs = new Map<string, Pair>();
  const onStream = (stream: SpdyStream) => {
    const { streamtype, port = '', requestid } = stream.headers;
    if ((streamtype !== 'error' && streamtype !== 'data') || !isPort(port)) return 'refuse';
    // The oldest clients send no request id: then the port pairs the streams.
    const key = `${requestid ?? ''}/${port}`;
    const pair = pairs.get(key) ?? { timer: setTimeout(() => drop(pairs, key), PAIR_TIMEOUT_MS) };
    if (pair[streamtype] !== undefined) return 'refuse';
    pair[streamtype] = stream;
    pairs.set(key, pair);
    const { error, data } = pair;
    if (error !== undefined && data !== undefined) {
      clearTimeout(pair.timer);
      pairs.delete(key);
      void forwardPort(options.dial, { error, data, port: Number(port), signal: connection.gone });
    }
    return 'accept';
  };
  const connection = new SpdyConnection(transport, { role: 'server', onStream, head: options.head });
  await connection.closed;
  for (const key of [...pairs.keys()]) drop(pairs, key);
}

/** A decimal TCP port. */
function isPort(text: string): boolean {
  return /^[1-9]\d{0,4}$/.test(text) && Number(text) <= 65_535;
}

function drop(pairs: Map<string, Pair>, key: string): void {
  const pair = pairs.get(key);
  pairs.delete(key);
  clearTimeout(pair?.timer);
  pair?.error?.destroy();
  pair?.data?.destroy();
}

/** A forwarded connection from the client's side: its bytes, and a stream that takes the message of a failure. */
export type ForwardedConnection = {
  data: JoinableStream;
  error: Duplex;
  port: number;
  /** Aborts when the client is gone. */
  signal: AbortSignal;
};

/**
 * Joins a connection of the client to a port of the pod until both have ended; each direction ends on its own. A
 * broken side breaks the other. Never rejects.
 */
export async function forwardPort(dial: PortDialer, connection: ForwardedConnection): Promise<void> {
  const { data, error, port, signal } = connection;
  error.resume(); // clients end their half at once
  try {
    const socket = await dialWhileWanted(dial, connection);
    if (signal.aborted || data.destroyed) socket.on('error', () => undefined).destroy();
    else await joinStream(data, socket, signal);
    error.end();
  } catch (cause) {
    error.end(`error forwarding port ${port} to the pod: ${errorMessage(cause)}`);
    data.destroy();
  }
}

/** Gives up when the client does. */
async function dialWhileWanted(dial: PortDialer, { data, port, signal }: ForwardedConnection): Promise<Duplex> {
  const unwanted = new AbortController();
  const abandon = () => unwanted.abort();
  data.once('close', abandon);
  signal.addEventListener('abort', abandon, { once: true });
  try {
    using deadline = withTimeout(unwanted.signal, DIAL_TIMEOUT_MS, `connect to port ${port}`);
    return await dial(port, deadline);
  } finally {
    data.off('close', abandon);
    signal.removeEventListener('abort', abandon);
  }
}
