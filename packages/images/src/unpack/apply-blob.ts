import { createHash } from 'node:crypto';
import { PodwrightError } from '@podwright/base';
import { wrapFileError } from '@podwright/system';
import { MAX_LAYER_BYTES } from '../limits.ts';
import { type HasArrived, readUncompressed } from './decompress.ts';
import { LayerApplier } from './layer-applier.ts';
import type { LayerSystem } from './system-calls.ts';
import { readTar, type TarEntry } from './tar-reader.ts';
import { UnpackLimits } from './unpack-limits.ts';
import type { UnpackOptions, UnpackProgress, UnpackResult } from './unpack-options.ts';

/** The unpack options that can be sent to a worker thread. */
export type UnpackJob = Omit<UnpackOptions, 'signal' | 'onProgress' | 'arriving'>;

/** `onProgress` is called for every entry and must limit the rate of its reports itself. */
export type ApplyDependencies = {
  system: LayerSystem;
  onProgress: (progress: UnpackProgress) => void;
  /** Waits for more of the blob's bytes. Set only if the blob is still being downloaded. */
  hasArrived?: HasArrived | undefined;
};

/** Unpacks a layer in this thread, synchronously except for reads. Errors are those of `UnpackLayer`. */
export async function applyBlob(job: UnpackJob, dependencies: ApplyDependencies): Promise<UnpackResult> {
  const { system, onProgress, hasArrived } = dependencies;
  try {
    refuseEncrypted(job.mediaType);
    if (job.isDryRun) return await hashBlob(job);
    const hash = createHash('sha256');
    const limits = new UnpackLimits(job.directory, job.maxBytes ?? MAX_LAYER_BYTES);
    let streamBytes = 0;
    let blobBytes = 0;
    const onRead = (count: number) => {
      blobBytes += count;
    };
    const stream = readUncompressed(job.blobPath, { onRead, hasArrived });
    const applier = new LayerApplier(system, { ...job, parentDirectories: job.parentDirectories ?? [], limits });
    const onChunk = (chunk: Buffer) => {
      limits.addBytes(chunk.length);
      streamBytes += chunk.length;
      hash.update(chunk);
    };
    for await (const entry of readTar(watched(stream, onChunk))) {
      limits.addEntry();
      await applyEntry(applier, entry);
      onProgress({ blobBytes, entries: limits.entries });
    }
    applier.finish();
    const diffId = `sha256:${hash.digest('hex')}`;
    return { diffId, streamBytes, sizeBytes: limits.contentBytes, entries: limits.entries };
  } catch (error) {
    throw wrapFileError('unpack layer', error);
  }
}

/** Computes the diff ID and size of a layer without unpacking it. */
async function hashBlob({ blobPath, maxBytes = MAX_LAYER_BYTES }: UnpackJob): Promise<UnpackResult> {
  const hash = createHash('sha256');
  let streamBytes = 0;
  for await (const chunk of readUncompressed(blobPath)) {
    streamBytes += chunk.length;
    if (streamBytes > maxBytes)
      throw new PodwrightError('data_loss', `unpack layer: it has more than ${maxBytes} bytes uncompressed`);
    hash.update(chunk);
  }
  return { diffId: `sha256:${hash.digest('hex')}`, streamBytes, sizeBytes: 0, entries: 0 };
}

async function applyEntry(applier: LayerApplier, entry: TarEntry): Promise<void> {
  try {
    await applier.apply(entry);
  } catch (error) {
    throw wrapFileError(`unpack layer: create ${JSON.stringify(entry.header.name)}`, error);
  }
}

async function* watched(stream: AsyncIterable<Buffer>, onChunk: (chunk: Buffer) => void): AsyncGenerator<Buffer> {
  for await (const chunk of stream) {
    onChunk(chunk);
    yield chunk;
  }
}

/** Rejects encrypted layers by their media type: unlike compression, encryption cannot be detected from the content. */
function refuseEncrypted(mediaType: string): void {
  if (mediaType.endsWith('+encrypted')) {
    throw new PodwrightError('unimplemented', `unpack layer: ${mediaType} is encrypted, which is not supported`);
  }
}
