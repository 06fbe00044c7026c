import { closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Logger } from '@podwright/base';

/** The most of one line of a shim's log that is kept. */
const maxLineLength = 4096;

/** Reads a shim's log from its FIFO into ours, until the shim ends. A shim does not start before somebody reads. */
export function readShimLog(fifo: string, logger: Logger): Disposable {
  const descriptor = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
  const socket = openReader(descriptor);
  socket.on('error', () => socket.destroy());
  const lines = createInterface({ input: socket, crlfDelay: Number.POSITIVE_INFINITY });
  lines.on('line', (line) => logger.debug({ shim: line.slice(0, maxLineLength) }, 'a shim says'));
  socket.unref();
  return { [Symbol.dispose]: () => void socket.destroy() };
}

function openReader(descriptor: number): Socket {
  try {
    return new Socket({ fd: descriptor, readable: true, writable: false });
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}
