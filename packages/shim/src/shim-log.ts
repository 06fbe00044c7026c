import { closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { errorMessage, type Logger, linesOf } from '@podwright/base';
import { MAX_LOG_LINE_BYTES } from './limits.ts';

/** Copies a shim's log from its FIFO to the logger until the shim exits. A shim does not start unless its log has a reader. */
export function readShimLog(fifo: string, logger: Logger): Disposable {
  const descriptor = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
  const socket = openReader(descriptor);
  socket.on('error', () => socket.destroy());
  let isDisposed = false;
  copyLines(socket, logger).catch((error) => {
    if (!isDisposed) logger.warn({ error: errorMessage(error) }, "read a shim's log");
  });
  socket.unref();
  return {
    [Symbol.dispose]: () => {
      isDisposed = true;
      socket.destroy();
    },
  };
}

async function copyLines(socket: Socket, logger: Logger): Promise<void> {
  for await (const line of linesOf(socket, MAX_LOG_LINE_BYTES)) logger.debug({ shim: line }, 'log of a shim');
}

function openReader(descriptor: number): Socket {
  try {
    return new Socket({ fd: descriptor, readable: true, writable: false });
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}
