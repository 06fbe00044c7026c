import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { errorMessage, type Logger } from '@podwright/base';
import { EMPTY_SETTINGS } from '../../http2/frames.ts';
import { HOLD_TIMEOUT_MS, PREFACE_TIMEOUT_MS } from '../../limits.ts';
import { AuthorityRewriter } from './authority-rewriter.ts';

/** How much a client may send before its first request; more is handed on. */
const HELD_BYTES = 65_536;

/**
 * Hands a client's connection to `accept` as node:http2 should see it: what the client sends goes through an
 * `AuthorityRewriter`, what the server sends goes out as it is. A client that breaks the protocol loses this connection and
 * nothing else.
 *
 * What comes before the first request is held back. If that is in order, as nearly always, the server gets the socket
 * itself, which node:http2 reads and writes without a way through JavaScript; otherwise a stream that stands before it.
 */
export function acceptAnyAuthority(socket: Socket, logger: Logger, accept: (connection: Duplex) => void): void {
  const rewriter = new AuthorityRewriter();
  const held: Buffer[] = [];
  const rewrite = (chunk: Buffer): Buffer[] => {
    try {
      return rewriter.push(chunk);
    } catch (error) {
      logger.info({ error: errorMessage(error) }, 'cut a client that broke the protocol');
      socket.destroy();
      return [];
    }
  };
  const hold = (chunk: Buffer) => {
    held.push(...rewrite(chunk));
    if (rewriter.passing || rewriter.rewriting || lengthOf(held) > HELD_BYTES) release();
  };
  const release = () => {
    clearTimeout(patience);
    socket.off('data', hold).pause();
    if (socket.destroyed) return;
    if (rewriter.passing) socket.unshift(Buffer.concat(held));
    accept(rewriter.passing ? socket : rewrittenConnection(socket, rewrite, held));
  };
  const unbegun = setTimeout(() => rewriter.begun || socket.destroy(), PREFACE_TIMEOUT_MS);
  const patience = setTimeout(release, HOLD_TIMEOUT_MS);
  socket.on('error', () => socket.destroy()); // a client that vanishes is no error of ours
  socket.once('close', () => [unbegun, patience].forEach(clearTimeout));
  socket.on('data', hold);
  socket.write(EMPTY_SETTINGS);
}

const lengthOf = (chunks: Buffer[]): number => chunks.reduce((sum, { length }) => sum + length, 0);

/** A connection of which all that comes in goes through `rewrite`; backpressure holds in both directions. */
function rewrittenConnection(socket: Socket, rewrite: (chunk: Buffer) => Buffer[], held: Buffer[]): Duplex {
  const connection = new Duplex({
    read: () => void socket.resume(),
    write: (chunk: Buffer, _encoding, done) => void socket.write(chunk, done),
    writev: (chunks, done) => writeAll(socket, chunks as { chunk: Buffer }[], done),
    final: (done) => void socket.end(done),
    destroy: (error, done) => {
      socket.destroy();
      done(error);
    },
  });
  const pass = (parts: Buffer[]) => {
    for (const part of parts) if (!connection.push(part)) socket.pause();
  };
  socket.on('data', (chunk: Buffer) => pass(rewrite(chunk)));
  socket.once('end', () => void connection.push(null));
  socket.once('close', () => void connection.destroy());
  pass(held);
  return connection;
}

/** Hands several chunks to the kernel at once. */
function writeAll(socket: Socket, chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
  socket.cork();
  chunks.forEach(({ chunk }, index) => void socket.write(chunk, index === chunks.length - 1 ? done : undefined));
  socket.uncork();
}
