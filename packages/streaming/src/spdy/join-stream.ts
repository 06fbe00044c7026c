import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** A forwarded connection's data stream. `cut` is true if it did not end properly (see `SpdyStream`). */
export type JoinableStream = Duplex & { readonly cut?: boolean };

/**
 * Joins a stream and a socket until the socket is closed. Each direction ends independently. An error on one side closes the other;
 * `signal` closes both. Never rejects. The socket must support half-close.
 */
export function joinStream(stream: JoinableStream, socket: Duplex, signal?: AbortSignal): Promise<void> {
  if (socket.closed) {
    stream.destroy();
    return Promise.resolve();
  }
  const { promise, resolve } = Promise.withResolvers<void>();
  const abandon = () => cut(socket);
  signal?.addEventListener('abort', abandon, { once: true });
  socket.on('error', () => stream.destroy());
  stream.on('error', abandon);
  stream.once('end', () => (stream.cut ? cut(socket) : socket.end()));
  stream.once('close', () => {
    // once both directions have ended, the socket might still have data to send; it then closes by itself
    if (!stream.readableEnded || stream.cut || !stream.writableFinished) cut(socket);
  });
  socket.once('close', () => {
    signal?.removeEventListener('abort', abandon);
    if (!socket.readableEnded) stream.destroy();
    resolve();
  });
  stream.pipe(socket, { end: false });
  socket.pipe(stream);
  if (stream.destroyed || signal?.aborted) cut(socket);
  return promise;
}

/**
 * Terminates a connection abnormally, with a reset if possible. A socket whose own direction has already been ended cannot be reset: libuv
 * rejects a reset during its shutdown, and Node.js then never closes the socket.
 */
function cut(socket: Duplex): void {
  const resettable = socket instanceof Socket && socket.remoteFamily !== undefined && !socket.writableEnded;
  if (resettable) socket.resetAndDestroy();
  else socket.destroy();
}
