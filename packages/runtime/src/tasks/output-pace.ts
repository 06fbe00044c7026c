import { PassThrough, type Readable } from 'node:stream';

/** Number of reads per measurement period. */
const READS = 64;
/** If a measurement period yields fewer bytes than this, its reads count as small: less than 256 bytes per read. */
const SMALL_BYTES = 16 * 1024;
/** How long output is then left to accumulate in the pipe, which has room for 64 KiB. */
const GATHER_MS = 5;

/**
 * Reads less often from a stream whose writer writes only a few bytes at a time: each read costs as much CPU time as a read of 64 KiB, and
 * it is the container that decides how it writes. `data` listeners receive the same bytes in fewer chunks.
 */
export function paceSmallReads(stream: Readable): void {
  let reads = 0;
  let sizeBytes = 0;
  stream.on('data', (chunk: Buffer) => {
    sizeBytes += chunk.length;
    if (++reads < READS) return;
    if (sizeBytes < SMALL_BYTES) {
      stream.pause();
      setTimeout(() => stream.resume(), GATHER_MS);
    }
    [reads, sizeBytes] = [0, 0];
  });
}

/**
 * Returns a stream that can still be read after its source has ended: when a child exits, Node.js discards its unread pipes, and the socket
 * of an empty FIFO ends immediately. The stream buffers one chunk; the rest stays in the pipe.
 */
export function keepUnread(stream: Readable): Readable {
  const output = stream.pipe(new PassThrough({ highWaterMark: 1 }));
  stream.once('close', () => output.end());
  return output;
}
