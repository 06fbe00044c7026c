import { closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { type Logger, linesOf } from '@podwright/base';

/** A longer line of a shim's log is taken for several. */
const maxLineBytes = 4096;

/** Reads a shim's log from its FIFO into ours, until the shim ends. A shim does not start before somebody reads. */
export function readShimLog(fifo: string, logger: Logger): Disposable {
  const descriptor = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
  const socket = openReader(descriptor);
  socket.on('error', () => socket.destroy());
  copyLines(socket, logger).catch(() => undefined); // it was destroyed
  socket.unref();
  return { [Symbol.dispose]: () => void socket.destroy() };
}

async function copyLines(socket: Socket, logger: Logger): Promise<void> {
  for await (const line of linesOf(socket, maxLineBytes)) logger.debug({ shim: line }, 'a shim says');
}

function openReader(descriptor: number): Socket {
  try {
    return new Socket({ fd: descriptor, readable: true, writable: false });
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}
