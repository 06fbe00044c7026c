import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno, PodwrightError } from '@podwright/base';
import type { ContentStore } from '../content/content-store.ts';
import { parseDigest } from '../content/digest.ts';
import { manifestLimits } from '../limits.ts';
import type { Descriptor } from '../spec/manifest.ts';
import type { BlobSource } from '../store/image-install.ts';

/** Returns a source for the blobs of an OCI layout directory (image-spec v1, image-layout.md). */
export function layoutSource(directory: string, content: ContentStore): BlobSource {
  const pathOf = ({ digest }: Descriptor): string => {
    const { algorithm, hex } = parseDigest(digest);
    return join(directory, 'blobs', algorithm, hex);
  };
  return {
    readManifest: (descriptor) => readSmallFile(pathOf(descriptor)),
    fetchBlob: (descriptor, { signal, onProgress, onArriving }) => {
      const copy = async () => {
        await content.ingest(
          descriptor,
          async (writer) => {
            onArriving?.(writer.arriving);
            await using opened = await openFile(pathOf(descriptor));
            const options = { start: writer.offset, highWaterMark: 1 << 20, signal, autoClose: false };
            const file = opened.createReadStream(options);
            for await (const chunk of file) {
              await writer.write(chunk);
              onProgress(writer.offset);
            }
          },
          signal,
        );
        onProgress(descriptor.size);
      };
      return copy().catch((error: unknown) => {
        throw isErrno(error, 'ENOENT') ? missing(pathOf(descriptor)) : error;
      });
    },
  };
}

/** Returns a source for the blobs of an archive, which `readArchive` has already put in the content store. */
export function contentSource(content: ContentStore): BlobSource {
  const missingBlob = ({ digest }: Descriptor) => missing(`blob ${digest}`);
  return {
    readManifest: async (descriptor) => {
      throw missingBlob(descriptor); // called only if the content store lacks the blob
    },
    fetchBlob: async (descriptor, { onProgress }) => {
      if (!(await content.has(descriptor))) throw missingBlob(descriptor);
      onProgress(descriptor.size);
    },
  };
}

/**
 * Reads a JSON document of an OCI layout. Rejects with `invalid_argument` if it is missing, and with `resource_exhausted` if it exceeds the
 * manifest size limit.
 */
export async function readSmallFile(path: string): Promise<Buffer> {
  try {
    await using file = await openFile(path);
    const { size } = await file.stat();
    if (size > manifestLimits.manifestBytes)
      throw new PodwrightError('resource_exhausted', `${path} has ${size} bytes`);
    return await file.readFile();
  } catch (error) {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ENOTDIR')) throw missing(path);
    throw error;
  }
}

/**
 * Opens a regular file of an OCI layout. Rejects with `invalid_argument` for devices and pipes, which might block or never end, and for
 * symbolic links, which could point to files that the directory's creator may not read.
 */
async function openFile(path: string): Promise<FileHandle> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((error: unknown) => {
    if (isErrno(error, 'ELOOP')) throw new PodwrightError('invalid_argument', `${path} is a symbolic link`);
    throw isErrno(error, 'ENXIO') ? new PodwrightError('invalid_argument', `${path} is not a regular file`) : error;
  });
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new PodwrightError('invalid_argument', `${path} is not a regular file`);
}

function missing(what: string): PodwrightError {
  return new PodwrightError('invalid_argument', `${what} does not exist`);
}
