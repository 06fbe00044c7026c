import type { Duplex } from 'node:stream';
import { LINGER_TIMEOUT_MS } from './limits.ts';

/**
 * Ends a connection such that the peer receives everything that was written. Closing a socket with unread received bytes resets the
 * connection and discards data in flight, so received bytes are discarded until the peer closes too, for a bounded time.
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
