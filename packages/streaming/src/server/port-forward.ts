import type { Duplex } from 'node:stream';
import { errorMessage, withTimeout } from '@podwright/base';
import { DIAL_TIMEOUT_MS, PAIR_TIMEOUT_MS } from '../limits.ts';
import type { CountBuffer } from '../read-buffers.ts';
import { SpdyConnection } from '../spdy/connection.ts';
import { type JoinableStream, joinStream } from '../spdy/join-stream.ts';
import type { SpdyStream } from '../spdy/stream.ts';

/**
 * Opens a connection to a port of the pod. The connection must support half-close. `signal` aborts the attempt, but not the connection once
 * it is open. The message of any error is sent to the client.
 */
export type PortDialer = (port: number, signal: AbortSignal) => Promise<Duplex>;

type Pair = { error?: SpdyStream; data?: SpdyStream; timer: NodeJS.Timeout };

/**
 * Serves `portforward.k8s.io` on an upgraded connection. For each forwarded connection the client opens an error stream and a data stream
 * with the same `requestID` and `port`. If a forwarded connection fails, the error is sent on its error stream, and the others are not
 * affected. Resolves when the client has disconnected.
 */
export async function servePortForward(
  transport: Duplex,
  options: { dial: PortDialer; head: Buffer; countBuffer?: CountBuffer },
): Promise<void> {
  const { head, countBuffer } = options;
  const pairs = new Map<string, Pair>();
  const onStream = (stream: SpdyStream) => {
    const { streamtype, port = '', requestid } = stream.headers;
    if ((streamtype !== 'error' && streamtype !== 'data') || !isPort(port)) return 'refuse';
    // the oldest clients send no request id, so their streams are paired by port
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
  const connection = new SpdyConnection(transport, { role: 'server', onStream, head, countBuffer });
  await connection.closed;
  for (const key of [...pairs.keys()]) drop(pairs, key);
}

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

/** The client's side of a forwarded connection: its data stream, and a stream for an error message. */
export type ForwardedConnection = {
  data: JoinableStream;
  error: Duplex;
  port: number;
  /** A signal that aborts when the client has disconnected. */
  signal: AbortSignal;
};

/**
 * Joins a client's connection to a port of the pod until both directions have ended. Either direction may end first. An error on one side
 * closes the other. Never rejects.
 */
export async function forwardPort(dial: PortDialer, connection: ForwardedConnection): Promise<void> {
  const { data, error, port, signal } = connection;
  error.resume(); // clients end their direction immediately
  try {
    const socket = await dialUntilAbandoned(dial, connection);
    if (signal.aborted || data.destroyed) socket.on('error', () => undefined).destroy();
    else await joinStream(data, socket, signal);
    error.end();
  } catch (cause) {
    error.end(`error forwarding port ${port} to the pod: ${errorMessage(cause)}`);
    data.destroy();
  }
}

async function dialUntilAbandoned(dial: PortDialer, { data, port, signal }: ForwardedConnection): Promise<Duplex> {
  const abandoned = new AbortController();
  const abandon = () => abandoned.abort();
  data.once('close', abandon);
  signal.addEventListener('abort', abandon, { once: true });
  try {
    using deadline = withTimeout(abandoned.signal, DIAL_TIMEOUT_MS, `connect to port ${port}`);
    return await dial(port, deadline);
  } finally {
    data.off('close', abandon);
    signal.removeEventListener('abort', abandon);
  }
}
