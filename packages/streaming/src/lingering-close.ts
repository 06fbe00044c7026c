import type { Duplex } from 'node:stream';
import { LINGER_TIMEOUT_MS } from './limits.ts';

/**
 * Ends a connection so that the other side gets all that was written: a socket that is closed while received bytes are
 * unread resets the connection, and what is on its way is lost. So its bytes are read away until it ends, within a bound.
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
