import { PassThrough, type Readable } from 'node:stream';

/** Number of reads over which the amount of output is measured. */
const READS = 64;
/** Reads count as small if all reads of a measurement together return fewer bytes than this, which is an average of 256 bytes per read. */
const SMALL_BYTES = 16 * 1024;
/** How long to let output accumulate in the pipe, which has a capacity of 64 KiB, after a measurement of small reads. */
const GATHER_MS = 5;

/**
 * Reads less often from a stream that is written a few bytes at a time: each read costs as much CPU time as one of 64 KiB, and the
 * container controls the size of the writes. `data` listeners receive the same bytes in fewer chunks.
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
 * Returns a stream that can still be read after its source has ended: Node.js discards a child's unread pipes when it exits, and the socket
 * of an empty FIFO ends immediately. The stream buffers one chunk; the rest stays in the pipe.
 */
export function keepUnread(stream: Readable): Readable {
  const output = stream.pipe(new PassThrough({ highWaterMark: 1 }));
  stream.once('close', () => output.end());
  return output;
}
