import type { ServerResponse } from 'node:http';

/**
 * Writes to a response and sends it at once. Node.js would send it after everything else that is to be done in this turn, such as
 * looking for more of a log. False when the client has to read first, as of `write`.
 */
export function writeNow(response: ServerResponse, chunk: Buffer): boolean {
  const { socket } = response;
  socket?.cork(); // the chunk goes out in one piece with its length
  const hasRoom = response.write(chunk);
  socket?.uncork();
  return hasRoom;
}
