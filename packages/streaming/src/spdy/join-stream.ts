import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** A forwarded connection's bytes; `cut` is true when their end is no proper one (see `SpdyStream`). */
export type JoinableStream = Duplex & { readonly cut?: boolean };

/**
 * Joins a stream and a socket until the socket is closed: each direction ends on its own, and a broken side breaks the
 * other. `signal` breaks both. Never rejects. The socket must allow to be half open.
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
    // After both of its ends the socket may still have bytes to send, and closes by itself.
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
 * Ends a connection so that its other side does not take it for a proper end. One whose own side is ended already cannot
 * be reset: libuv refuses that while it shuts down, and Node.js then never closes the socket.
 */
function cut(socket: Duplex): void {
  const resettable = socket instanceof Socket && socket.remoteFamily !== undefined && !socket.writableEnded;
  if (resettable) socket.resetAndDestroy();
  else socket.destroy();
}
