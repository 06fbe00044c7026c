import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { errorMessage, type Logger } from '@podwright/base';
import { AuthorityRewriter } from './authority-rewriter.ts';

/** A client that has not even said that it speaks HTTP/2 after this long is cut off. */
const PREFACE_TIMEOUT_MS = 10_000;

/**
 * The connection as node:http2 should see it: what the client sends goes through an `AuthorityRewriter`, what the
 * server sends goes out as it is. Backpressure holds in both directions. A client that breaks the protocol loses
 * this connection and nothing else.
 */
export function acceptAnyAuthority(socket: Socket, logger: Logger): Duplex {
  const rewriter = new AuthorityRewriter();
  const timer = setTimeout(() => socket.destroy(), PREFACE_TIMEOUT_MS);
  const connection = new Duplex({
    read: () => void socket.resume(),
    write: (chunk: Buffer, _encoding, done) => void socket.write(chunk, done),
    writev: (chunks, done) => writeAll(socket, chunks as { chunk: Buffer }[], done),
    final: (done) => void socket.end(done),
    destroy: (error, done) => {
      clearTimeout(timer);
      socket.destroy();
      done(error);
    },
  });
  socket.on('data', (chunk: Buffer) => {
    try {
      for (const part of rewriter.push(chunk)) if (!connection.push(part)) socket.pause();
      if (rewriter.begun) clearTimeout(timer);
    } catch (error) {
      logger.info({ error: errorMessage(error) }, 'cut a client that broke the protocol');
      connection.destroy();
    }
  });
  socket.once('end', () => void connection.push(null));
  socket.once('error', () => void connection.destroy()); // a client that vanishes is no error of ours
  socket.once('close', () => void connection.destroy());
  return connection;
}

/** Hands several chunks to the kernel at once. */
function writeAll(socket: Socket, chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
  socket.cork();
  chunks.forEach(({ chunk }, index) => void socket.write(chunk, index === chunks.length - 1 ? done : undefined));
  socket.uncork();
}
