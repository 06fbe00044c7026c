import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { PodwrightError } from '@podwright/base';
import { splitFrames } from './zstd-frames.ts';

/** How a blob is packed. */
export type Compression = 'none' | 'gzip' | 'zstd';

/** Big pieces: fewer turns of the event loop a megabyte. */
const CHUNK_BYTES = 1 << 20;

const foreign: [string, string][] = [
  ['425a68', 'bzip2'],
  ['fd377a585a00', 'xz'],
  ['04224d18', 'lz4'],
  ['504b0304', 'zip'],
];

/** Tells by the first bytes how a blob is packed. Throws `unimplemented` for a packing that layers do not have. */
export function detectCompression(start: Buffer): Compression {
  const hex = start.toString('hex', 0, 6);
  if (hex.startsWith('1f8b')) return 'gzip';
  // a frame, or a skippable frame, with which some writers begin
  if (hex.startsWith('28b52ffd') || /^5.2a4d18/.test(hex)) return 'zstd';
  const other = foreign.find(([magic]) => hex.startsWith(magic));
  if (other !== undefined) {
    throw new PodwrightError('unimplemented', `unpack layer: it is packed with ${other[1]}; use gzip, zstd or none`);
  }
  return 'none';
}

/**
 * The uncompressed content of a blob. `onRead` is told the bytes read of the blob.
 * The iteration throws `data_loss` where the packed stream is cut or damaged.
 */
export async function* readUncompressed(
  path: string,
  onRead: (bytes: number) => void,
): AsyncGenerator<Buffer, void, void> {
  const compression = detectCompression(await readStart(path));
  const file = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  file.on('data', (chunk) => onRead(chunk.length));
  file.pause();
  if (compression === 'none') return yield* file;
  const unpacker = startUnpacker(compression, file);
  try {
    yield* unpacker;
  } catch (error) {
    throw describe(compression, error);
  }
}

/** A failure of the file or the packing reaches the iteration of what this returns. */
function startUnpacker(compression: 'gzip' | 'zstd', file: Readable): Readable {
  if (compression === 'gzip') return pipeline(file, createGunzip({ chunkSize: CHUNK_BYTES }), () => undefined);
  return pipeline(file, splitFrames, createZstdDecompress({ chunkSize: CHUNK_BYTES }), () => undefined);
}

async function readStart(path: string): Promise<Buffer> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(6), 0, 6, 0);
  return buffer.subarray(0, bytesRead);
}

function describe(compression: Compression, error: unknown): unknown {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  if (code === undefined || !/^(Z_|ZSTD_|ERR_ZSTD|ERR_ZLIB)/.test(code)) return error;
  return new PodwrightError(
    'data_loss',
    `unpack layer: its ${compression} stream is damaged or cut: ${(error as Error).message}`,
    {
      cause: error,
    },
  );
}
