import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { posix } from 'node:path';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { gatherBytes, PodwrightError, wrapError } from '@podwright/base';
import type { ContentStore, Fill } from '../content/content-store.ts';
import type { ExpectedBlob } from '../content/content-writer.ts';
import { isDigest } from '../content/digest.ts';
import { MAX_ARCHIVE_ENTRIES, MAX_ARCHIVE_LINK_DEPTH, MAX_ARCHIVE_NAME_BYTES, manifestLimits } from '../limits.ts';
import type { Lease } from '../store/leases.ts';
import { detectCompression, MAGIC_BYTES } from '../unpack/decompress.ts';
import { readTar, type TarEntry } from '../unpack/tar-reader.ts';

/** The contents of an image archive. Its blobs are already in the content store. */
export type Archive = {
  /** `index.json` and `manifest.json`, by name. */
  documents: Map<string, Buffer>;
  /** Returns the blob of any other file by its path in the archive, following links. */
  fileAt(path: string): ExpectedBlob | undefined;
};

export type ArchiveOptions = {
  path: string;
  content: ContentStore;
  lease: Lease;
  signal: AbortSignal;
  onProgress: (bytes: number) => void;
};

const DOCUMENT_NAMES = ['index.json', 'manifest.json'];
const BUFFER_BYTES = 256 * 1024;

/**
 * Reads an OCI or Docker archive (uncompressed, gzip or zstd) in a single pass, storing every file except `index.json` and `manifest.json`
 * in the content store.
 */
export async function readArchive(options: ArchiveOptions): Promise<Archive> {
  const documents = new Map<string, Buffer>();
  const files = new Map<string, ExpectedBlob>();
  const links = new Map<string, string>();
  let entries = 0;
  let nameBytes = 0;
  try {
    for await (const entry of readTar(await openDecompressed(options))) {
      options.signal.throwIfAborted();
      if (++entries > MAX_ARCHIVE_ENTRIES)
        throw new PodwrightError('invalid_argument', `more than ${MAX_ARCHIVE_ENTRIES} entries`);
      nameBytes += entry.header.nameBytes.length + entry.header.linkBytes.length;
      if (nameBytes > MAX_ARCHIVE_NAME_BYTES)
        throw new PodwrightError('invalid_argument', `its names take more than ${MAX_ARCHIVE_NAME_BYTES} bytes`);
      const path = normalize(entry.header.name);
      if (entry.header.type === 'symlink')
        links.set(path, normalize(posix.join(posix.dirname(path), entry.header.linkName)));
      else if (entry.header.type === 'link') links.set(path, normalize(entry.header.linkName));
      else if (entry.header.type !== 'file') continue;
      else if (DOCUMENT_NAMES.includes(path)) {
        documents.set(path, await readDocument(entry));
      } else files.set(path, await store(path, entry, options));
    }
  } catch (error) {
    options.signal.throwIfAborted();
    throw wrapError('read the archive', error);
  }
  return { documents, fileAt: (path) => follow(normalize(path), { files, links }) };
}

/** Reads `index.json` or `manifest.json`. Rejects with `resource_exhausted` if it exceeds the manifest size limit. */
function readDocument({ header, body }: TarEntry): Promise<Buffer> {
  const { manifestBytes } = manifestLimits;
  const tooLarge = () => new PodwrightError('resource_exhausted', `${header.name}: more than ${manifestBytes} bytes`);
  return gatherBytes(body, manifestBytes, tooLarge);
}

/**
 * Stores a file in the content store. Blobs of an OCI layout are verified against their names; for files of a Docker archive, the digest is
 * computed.
 */
async function store(path: string, { header, body }: TarEntry, options: ArchiveOptions): Promise<ExpectedBlob> {
  const { content, lease, signal } = options;
  const [, algorithm, hex] = /^blobs\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
  const digest = `${algorithm}:${hex}`;
  const fill: Fill = async (writer) => {
    let skip = writer.offset;
    for await (const chunk of body) {
      signal.throwIfAborted();
      // the writer might be resuming a partial blob left by an interrupted pull, so skip the bytes that it already has
      if (chunk.length > skip) await writer.write(chunk.subarray(skip));
      skip = Math.max(0, skip - chunk.length);
    }
  };
  if (!isDigest(digest)) return content.ingestUnnamed(fill, (own) => lease.hold(own));
  lease.hold(digest);
  await content.ingest({ digest, size: header.size }, fill, signal);
  return { digest, size: header.size };
}

async function openDecompressed({ path, signal, onProgress }: ArchiveOptions): Promise<Readable> {
  const start = Buffer.alloc(MAGIC_BYTES);
  {
    await using file = await open(path);
    await file.read(start, 0, MAGIC_BYTES, 0);
  }
  const compressed = createReadStream(path, { highWaterMark: BUFFER_BYTES, signal });
  let bytes = 0;
  compressed.on('data', (chunk) => {
    bytes += chunk.length;
    onProgress(bytes);
  });
  compressed.pause();
  const decompressor = decompressorFor(start);
  if (decompressor === undefined) return compressed;
  // `pipeline` also makes an error of the compressed stream an error of the returned stream
  return pipeline(compressed, decompressor, () => undefined);
}

function decompressorFor(start: Buffer): (NodeJS.ReadWriteStream & Readable) | undefined {
  const compression = detectCompression(start, 'unpack it');
  if (compression === 'gzip') return createGunzip({ chunkSize: BUFFER_BYTES }) as never;
  if (compression === 'zstd') return createZstdDecompress({ chunkSize: BUFFER_BYTES }) as never;
  return undefined;
}

function follow(
  path: string,
  { files, links }: { files: Map<string, ExpectedBlob>; links: Map<string, string> },
): ExpectedBlob | undefined {
  let current = path;
  for (let depth = 0; depth < MAX_ARCHIVE_LINK_DEPTH; depth++) {
    const file = files.get(current);
    const target = links.get(current);
    if (file !== undefined || target === undefined) return file;
    current = target;
  }
  return undefined;
}

function normalize(path: string): string {
  return posix.normalize(`/${path}`).replace(/^\/+|\/+$/g, '');
}
