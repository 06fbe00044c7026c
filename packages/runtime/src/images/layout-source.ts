import { createReadStream, type Stats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno, PodwrightError } from '@podwright/base';
import type { ContentStore } from '../content/content-store.ts';
import { parseDigest } from '../content/digest.ts';
import type { BlobSource } from './image-install.ts';
import { type Descriptor, manifestLimits } from './manifest.ts';

/** Blobs of an OCI layout folder (image-spec v1, image-layout.md). */
export function layoutSource(folder: string, content: ContentStore): BlobSource {
  const pathOf = ({ digest }: Descriptor): string => {
    const { algorithm, hex } = parseDigest(digest);
    return join(folder, 'blobs', algorithm, hex);
  };
  return {
    readManifest: (descriptor) => readSmallFile(pathOf(descriptor)),
    fetchBlob: (descriptor, signal, onProgress) => {
      const copy = async () => {
        await statFile(pathOf(descriptor));
        await content.ingest(
          descriptor,
          async (writer) => {
            const file = createReadStream(pathOf(descriptor), { start: writer.offset, highWaterMark: 1 << 20, signal });
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

/** For archives, whose blobs are in the content store by now. */
export function contentSource(content: ContentStore): BlobSource {
  const missingBlob = ({ digest }: Descriptor) => missing(`blob ${digest}`);
  return {
    readManifest: async (descriptor) => {
      throw missingBlob(descriptor); // asked for only if the store has none
    },
    fetchBlob: async (descriptor, _signal, onProgress) => {
      if (!(await content.has(descriptor))) throw missingBlob(descriptor);
      onProgress(descriptor.size);
    },
  };
}

/** A document of a layout; `invalid_argument` if it is missing or larger than any manifest. */
export async function readSmallFile(path: string): Promise<Buffer> {
  try {
    const { size } = await statFile(path);
    if (size > manifestLimits.manifestBytes)
      throw new PodwrightError('resource_exhausted', `${path} has ${size} bytes`);
    return await readFile(path);
  } catch (error) {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ENOTDIR')) throw missing(path);
    throw error;
  }
}

/** What a file is; devices and pipes, which end never or wait for ever, are `invalid_argument`. */
async function statFile(path: string): Promise<Stats> {
  const found = await stat(path);
  if (!found.isFile()) throw new PodwrightError('invalid_argument', `${path} is no file`);
  return found;
}

function missing(what: string): PodwrightError {
  return new PodwrightError('invalid_argument', `${what} is not there`);
}
