import type { Server } from 'node:net';
import { syscallError } from './errno.ts';
import { loadLibc } from './libc.ts';

// Constants from linux/in.h and linux/tcp.h; see setsockopt(2) and tcp(7).
const IPPROTO_TCP = 6;
const TCP_DEFER_ACCEPT = 9;

/**
 * Makes the kernel hold back connections to a listening server until the client sends data, for up to `seconds` (TCP_DEFER_ACCEPT). Idle
 * clients then cost this process nothing and take up no room in its accept queue.
 */
export function deferAccept(server: Server, seconds: number): void {
  // node:net has no public API for the descriptor of a server's socket
  const { fd } = (server as unknown as { _handle: { fd: number } })._handle;
  const value = Buffer.alloc(4);
  value.writeInt32LE(seconds);
  const libc = loadLibc();
  if (libc.setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, value, value.length) !== 0)
    throw syscallError('setsockopt', 'TCP_DEFER_ACCEPT', libc.errno());
}
