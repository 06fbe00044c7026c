import type { Duplex } from 'node:stream';
import { LINGER_TIMEOUT_MS } from './limits.ts';

/**
 * Ends a connection in such a way that the peer receives everything that was written. Closing a socket with unread data would reset the
 * connection and lose data in flight. Incoming data is therefore read and discarded until the peer closes too, for a bounded time.
 */
export function lingeringClose(transport: Duplex, lastBytes?: Buffer): void {
  if (transport.destroyed) return;
  const destroy = () => transport.destroy();
  const timer = setTimeout(destroy, LINGER_TIMEOUT_MS).unref();
  transport.once('close', () => clearTimeout(timer));
  transport.once('end', destroy);
  if (transport.readableEnded) transport.once('finish', destroy);
  if (transport.writable) transport.end(lastBytes);
  transport.resume();
}
