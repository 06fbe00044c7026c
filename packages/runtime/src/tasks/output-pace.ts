import { PassThrough, type Readable } from 'node:stream';

/** So many reads are looked at together. */
const READS = 64;
/** Fewer bytes than this in them are small reads: 256 a read. */
const SMALL_BYTES = 16 * 1024;
/** How long bytes are then left to gather in the pipe, which holds 64 KiB. */
const GATHER_MS = 5;

/**
 * Reads less often from a stream whose writer writes a few bytes at a time: each read takes as much of the thread as one of
 * 64 KiB, and a container chooses how it writes. Listeners of `data` get the same bytes in fewer chunks.
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
 * A stream that stays until it is read. A child's pipe would not: at the child's end Node.js throws away what has not begun to
 * be read, and the socket of a FIFO that is empty ends at once. It holds a chunk; the rest stays in the pipe.
 */
export function keepUnread(stream: Readable): Readable {
  const output = stream.pipe(new PassThrough({ highWaterMark: 1 }));
  stream.once('close', () => output.end());
  return output;
}
