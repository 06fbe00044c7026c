import type { ServerResponse } from 'node:http';

/**
 * Writes to a response and flushes it immediately. Node.js would flush it only after the rest of this event loop turn, for example after
 * more of a log has been read. Like `write`, returns false if the caller should wait for `drain`.
 */
export function writeNow(response: ServerResponse, chunk: Buffer): boolean {
  const { socket } = response;
  socket?.cork(); // sends the chunk and its length together
  const hasRoom = response.write(chunk);
  socket?.uncork();
  return hasRoom;
}
