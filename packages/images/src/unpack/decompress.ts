import { type FileHandle, open } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { PodwrightError } from '@podwright/base';
import { splitFrames } from './zstd-frames.ts';

/** A blob's compression format. */
export type Compression = 'none' | 'gzip' | 'zstd';

/** Size of the chunks to read. Large chunks mean fewer event loop turns per layer. */
const CHUNK_BYTES = 1 << 20;

/** Number of bytes needed to detect the compression. */
export const MAGIC_BYTES = 6;

/** Magic numbers of compression formats that are not supported for layers. */
const unsupported: [string, string][] = [
  ['425a68', 'bzip2'],
  ['fd377a585a00', 'xz'],
  ['04224d18', 'lz4'],
  ['504b0304', 'zip'],
];

/**
 * Detects the compression of a blob from its first bytes. Throws `unimplemented` if the format is not supported; `what` names the operation
 * in the error message.
 */
export function detectCompression(start: Buffer, what = 'unpack layer'): Compression {
  const hex = start.toString('hex', 0, 6);
  if (hex.startsWith('1f8b')) return 'gzip';
  // a zstd frame or a skippable frame, which some writers put first
  if (hex.startsWith('28b52ffd') || /^5.2a4d18/.test(hex)) return 'zstd';
  const other = unsupported.find(([magic]) => hex.startsWith(magic));
  if (other !== undefined) {
    throw new PodwrightError(
      'unimplemented',
      `${what}: it is compressed with ${other[1]}; use gzip, zstd or no compression`,
    );
  }
  return 'none';
}

/** Waits until a file being downloaded is larger than `have` bytes or will not grow any further, and resolves to its size. */
export type HasArrived = (have: number) => Promise<number>;

export type ReadOptions = {
  /** Called after each read with the number of compressed bytes read. */
  onRead?: (bytes: number) => void;
  /** Set for a file that is still being written. Default: the file is complete. */
  hasArrived?: HasArrived | undefined;
};

/** Reads a blob and yields its decompressed content. The iteration throws `data_loss` if the compressed stream is truncated or damaged. */
export async function* readUncompressed(path: string, options: ReadOptions = {}): AsyncGenerator<Buffer, void, void> {
  await using file = await open(path);
  const { onRead = () => undefined, hasArrived = async () => Number.POSITIVE_INFINITY } = options;
  const compression = detectCompression(await readStart(file, hasArrived));
  const compressed = readCompressed(file, { onRead, hasArrived });
  if (compression === 'none') return yield* compressed;
  const decompressor = startDecompressor(compression, compressed);
  try {
    yield* decompressor;
  } catch (error) {
    throw describe(compression, error);
  }
}

/** Starts a decompressor. Iterating over the returned stream throws any read or decompression error. */
function startDecompressor(compression: 'gzip' | 'zstd', compressed: AsyncIterable<Buffer>): Readable {
  if (compression === 'gzip') return pipeline(compressed, createGunzip({ chunkSize: CHUNK_BYTES }), () => undefined);
  return pipeline(compressed, splitFrames, createZstdDecompress({ chunkSize: CHUNK_BYTES }), () => undefined);
}

async function readStart(file: FileHandle, hasArrived: HasArrived): Promise<Buffer> {
  await hasArrived(MAGIC_BYTES - 1);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MAGIC_BYTES), 0, MAGIC_BYTES, 0);
  return buffer.subarray(0, bytesRead);
}

async function* readCompressed(
  file: FileHandle,
  { onRead, hasArrived }: Required<ReadOptions> & { hasArrived: HasArrived },
): AsyncGenerator<Buffer, void, void> {
  for (let at = 0; ; ) {
    const available = Math.min(CHUNK_BYTES, (await hasArrived(at)) - at);
    if (available === 0) return;
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafeSlow(available), 0, available, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    onRead(bytesRead);
    yield buffer.subarray(0, bytesRead);
  }
}

function describe(compression: Compression, error: unknown): unknown {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  if (code === undefined || !/^(Z_|ZSTD_|ERR_ZSTD|ERR_ZLIB)/.test(code)) return error;
  return new PodwrightError(
    'data_loss',
    `unpack layer: its ${compression} stream is damaged or truncated: ${(error as Error).message}`,
    {
      cause: error,
    },
  );
}
