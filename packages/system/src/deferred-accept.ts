import type { Server } from 'node:net';
import { syscallError } from './errno.ts';
import { loadLibc } from './libc.ts';

// setsockopt(2), tcp(7): linux/in.h, linux/tcp.h.
const IPPROTO_TCP = 6;
const TCP_DEFER_ACCEPT = 9;

/**
 * Has the kernel keep connections to a listening server back until their clients have sent something, for some `seconds`: those that
 * send nothing cost this process nothing, however many they are, and keep nobody else out of its queue.
 */
export function deferAccept(server: Server, seconds: number): void {
  // node:net tells the descriptor nowhere else
  const { fd } = (server as unknown as { _handle: { fd: number } })._handle;
  const value = Buffer.alloc(4);
  value.writeInt32LE(seconds);
  const libc = loadLibc();
  if (libc.setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, value, value.length) !== 0)
    throw syscallError('setsockopt', 'TCP_DEFER_ACCEPT', libc.errno());
}
