import type { ServerResponse } from 'node:http';

/**
 * Writes to a response and flushes it at once. Node.js would flush at the end of this turn of the event loop, after other work such
 * as reading more of a log. Returns false, like `write`, when the caller should wait for `drain`.
 */
export function writeNow(response: ServerResponse, chunk: Buffer): boolean {
  const { socket } = response;
  socket?.cork(); // sends the chunk and its length together
  const hasRoom = response.write(chunk);
  socket?.uncork();
  return hasRoom;
}
