import { PassThrough, type Readable } from 'node:stream';

/** Number of reads per measurement. */
const READS = 64;
/** Fewer bytes than this per measurement count as small reads: 256 bytes a read. */
const SMALL_BYTES = 16 * 1024;
/** How long output then collects in the pipe, which has room for 64 KiB. */
const GATHER_MS = 5;

/**
 * Reads less often from a stream whose writer writes only a few bytes at a time, because each read costs as much CPU time as a read of 64
 * KiB, and the container decides how it writes. Listeners of `data` get the same bytes in fewer chunks.
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
 * Returns a stream that can still be read after its source has ended. When a child exits, Node.js discards its unread pipes, and
 * the socket of an empty FIFO ends at once. It buffers one chunk; the rest stays in the pipe.
 */
export function keepUnread(stream: Readable): Readable {
  const output = stream.pipe(new PassThrough({ highWaterMark: 1 }));
  stream.once('close', () => output.end());
  return output;
}
