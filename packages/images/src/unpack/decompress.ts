import { type FileHandle, open } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { PodwrightError } from '@podwright/base';
import { splitFrames } from './zstd-frames.ts';

/** How a blob is packed. */
export type Compression = 'none' | 'gzip' | 'zstd';

/** Big pieces: fewer turns of the event loop a megabyte. */
const CHUNK_BYTES = 1 << 20;

/** How many bytes tell how a blob is packed. */
export const MAGIC_BYTES = 6;

const foreign: [string, string][] = [
  ['425a68', 'bzip2'],
  ['fd377a585a00', 'xz'],
  ['04224d18', 'lz4'],
  ['504b0304', 'zip'],
];

/**
 * Tells by the first bytes how a blob is packed; `what` is being done with it. Throws `unimplemented` for a packing that layers
 * do not have.
 */
export function detectCompression(start: Buffer, what = 'unpack layer'): Compression {
  const hex = start.toString('hex', 0, 6);
  if (hex.startsWith('1f8b')) return 'gzip';
  // a frame, or a skippable frame, with which some writers begin
  if (hex.startsWith('28b52ffd') || /^5.2a4d18/.test(hex)) return 'zstd';
  const other = foreign.find(([magic]) => hex.startsWith(magic));
  if (other !== undefined) {
    throw new PodwrightError('unimplemented', `${what}: it is packed with ${other[1]}; use gzip, zstd or none`);
  }
  return 'none';
}

/** Resolves to the bytes of a file that are there: more than `have`, or all that ever come. */
export type HasArrived = (have: number) => Promise<number>;

export type ReadOptions = {
  /** Told the bytes read of the blob. */
  onRead?: (bytes: number) => void;
  /** For a file that is still being written; without it all of it is there. */
  hasArrived?: HasArrived | undefined;
};

/**
 * The uncompressed content of a blob.
 * The iteration throws `data_loss` where the packed stream is cut or damaged.
 */
export async function* readUncompressed(path: string, options: ReadOptions = {}): AsyncGenerator<Buffer, void, void> {
  await using file = await open(path);
  const { onRead = () => undefined, hasArrived = async () => Number.POSITIVE_INFINITY } = options;
  const compression = detectCompression(await readStart(file, hasArrived));
  const packed = readPacked(file, { onRead, hasArrived });
  if (compression === 'none') return yield* packed;
  const unpacker = startUnpacker(compression, packed);
  try {
    yield* unpacker;
  } catch (error) {
    throw describe(compression, error);
  }
}

/** A failure of the file or the packing reaches the iteration of what this returns. */
function startUnpacker(compression: 'gzip' | 'zstd', packed: AsyncIterable<Buffer>): Readable {
  if (compression === 'gzip') return pipeline(packed, createGunzip({ chunkSize: CHUNK_BYTES }), () => undefined);
  return pipeline(packed, splitFrames, createZstdDecompress({ chunkSize: CHUNK_BYTES }), () => undefined);
}

async function readStart(file: FileHandle, hasArrived: HasArrived): Promise<Buffer> {
  await hasArrived(MAGIC_BYTES - 1);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MAGIC_BYTES), 0, MAGIC_BYTES, 0);
  return buffer.subarray(0, bytesRead);
}

async function* readPacked(
  file: FileHandle,
  { onRead, hasArrived }: Required<ReadOptions> & { hasArrived: HasArrived },
): AsyncGenerator<Buffer, void, void> {
  for (let at = 0; ; ) {
    const wanted = Math.min(CHUNK_BYTES, (await hasArrived(at)) - at);
    if (wanted === 0) return;
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafeSlow(wanted), 0, wanted, at);
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
    `unpack layer: its ${compression} stream is damaged or cut: ${(error as Error).message}`,
    {
      cause: error,
    },
  );
}
