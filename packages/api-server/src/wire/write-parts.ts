import { once } from 'node:events';
import { constants, createGzip } from 'node:zlib';
import type { HttpResponse } from './http-exchange.ts';

/**
 * Buffers are written in groups of this size, which fits in the window of an HTTP/2 stream. The next group is written once the client has
 * read most of the previous one. TLS connections hold an encrypted copy of the group, and a user may have a thousand connections, so larger
 * groups would need too much memory.
 */
export const GROUP_BYTES = 48 << 10;

/** Splits buffers larger than `GROUP_BYTES` into slices of that size, without copying them. */
export function* piecesOf(parts: Iterable<Uint8Array>): Generator<Uint8Array> {
  for (const part of parts)
    if (part.length <= GROUP_BYTES) yield part;
    else for (let at = 0; at < part.length; at += GROUP_BYTES) yield part.subarray(at, at + GROUP_BYTES);
}

/**
 * Writes buffers in a single system call, without copying. node:http's `response.cork` does not achieve this: it collects chunks and may
 * then never emit `drain` (node 24, lib/_http_outgoing.js).
 */
export function writeGroup(response: HttpResponse, group: readonly Uint8Array[]): void {
  const connection = response.stream ?? response.socket;
  connection?.cork();
  for (const part of group) response.write(part);
  connection?.uncork();
}

/** Waits until the response has room for more data. Returns false if the signal aborts or the client disconnects first. */
export async function waitForRoom(response: HttpResponse, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false;
  if (!response.writableNeedDrain) return true;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const [hasRoom, isOver] = [() => resolve(true), () => resolve(false)];
  response.once('drain', hasRoom);
  response.once('close', isOver);
  signal.addEventListener('abort', isOver, { once: true });
  const result = await promise;
  response.off('drain', hasRoom);
  response.off('close', isOver);
  signal.removeEventListener('abort', isOver);
  return result;
}

/**
 * Writes buffers in groups and waits for slow clients, so that the response buffers at most one group. Returns false if the signal aborts
 * or the client disconnects first.
 */
export async function writeParts(
  response: HttpResponse,
  parts: Iterable<Uint8Array>,
  signal: AbortSignal,
): Promise<boolean> {
  let group: Uint8Array[] = [];
  let bytes = 0;
  for (const part of piecesOf(parts)) {
    group.push(part);
    bytes += part.length;
    if (bytes < GROUP_BYTES) continue;
    writeGroup(response, group);
    [group, bytes] = [[], 0];
    if (!(await waitForRoom(response, signal))) return false;
  }
  writeGroup(response, group);
  return !signal.aborted;
}

/** Like `writeParts`, for buffers that are produced while writing. */
export async function writeSlices(
  response: HttpResponse,
  slices: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<boolean> {
  for await (const slice of slices)
    for (const piece of piecesOf([slice]))
      if (!response.write(piece) && !(await waitForRoom(response, signal))) return false;
  return !signal.aborted;
}

/** Like `writeParts`, but gzips the data at the compression level that upstream uses. */
export async function writeGzipped(
  response: HttpResponse,
  parts: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<boolean> {
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  const feed = async () => {
    for await (const part of parts) if (!gzip.write(part)) await once(gzip, 'drain', { signal });
    gzip.end();
  };
  try {
    feed().catch((error: Error) => gzip.destroy(error));
    for await (const chunk of gzip as AsyncIterable<Buffer>)
      if (!(response.write(chunk) || (await waitForRoom(response, signal)))) return false;
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  } finally {
    gzip.destroy();
  }
}
