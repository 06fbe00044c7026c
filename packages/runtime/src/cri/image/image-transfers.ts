import { isAbsolute } from 'node:path';
import { errorCode, ignoreFailure, PodwrightError } from '@podwright/base';
import type { ImageTransfers, LoadedImageSchema, MessageInitShape } from '@podwright/cri';
import type { ServiceHandlers } from '@podwright/grpc';
import type { LoadedImage, TransferProgress } from '@podwright/images';
import type { CriServices } from '../services/services.ts';

type Handlers = ServiceHandlers<typeof ImageTransfers>;
type Needs = Pick<CriServices, 'images'>;

/** podwright.v1.ImageTransfers: image operations missing from the CRI. */
export function imageTransfers(services: Needs): Handlers {
  return {
    watch: imageWatch(services),
    load: imageLoad(services),
    save: imageSave(services),
    untag: imageUntag(services),
    clean: imagesClean(services),
  };
}

/** Watch: streams the progress of all pulls and loads from the time of the call. */
function imageWatch({ images }: Needs): Handlers['watch'] {
  return (_request, { signal }) => {
    const transfers = images.transfers(signal);
    return (async function* () {
      for await (const progress of transfers) yield criProgress(progress);
    })();
  };
}

/** Load: loads images from a file on this host, and streams the progress. */
function imageLoad({ images }: Needs): Handlers['load'] {
  return async function* ({ path, name }, { signal }) {
    if (!isAbsolute(path))
      throw new PodwrightError('invalid_argument', `load images from "${path}": the path is not absolute`);
    const ended = new AbortController();
    const transfers = images.transfers(AbortSignal.any([signal, ended.signal]));
    const loading = images.load(path, { signal, name: name === '' ? undefined : name }).finally(() => ended.abort());
    ignoreFailure(loading, 'awaited below, after the last progress event');
    try {
      for await (const progress of transfers)
        if (progress.reference === path) yield { event: { case: 'progress', value: criProgress(progress) } };
    } catch (error) {
      if (errorCode(error) !== 'resource_exhausted') throw error; // the client reads too slowly: it misses the rest of the progress
    }
    yield { event: { case: 'loaded', value: { images: (await loading).map(loadedImage) } } };
  };
}

/** Save: saves images to an archive on this host. */
function imageSave({ images }: Needs): Handlers['save'] {
  return async ({ references, path }, { signal }) => {
    if (!isAbsolute(path))
      throw new PodwrightError('invalid_argument', `save images to "${path}": the path is not absolute`);
    await images.save(references, path, { signal });
    return {};
  };
}

/** Untag: removes one name of an image. */
function imageUntag({ images }: Needs): Handlers['untag'] {
  return async ({ reference }) => ({ removed: await images.untag(reference) });
}

/** Clean: removes content and snapshots not used by any image. */
function imagesClean({ images }: Needs): Handlers['clean'] {
  return async () => {
    await images.clean();
    return {};
  };
}

function criProgress({ doneBytes, totalBytes, error = '', ...progress }: TransferProgress) {
  return { ...progress, doneBytes: BigInt(doneBytes), totalBytes: BigInt(totalBytes), error };
}

function loadedImage(record: LoadedImage): MessageInitShape<typeof LoadedImageSchema> {
  return { id: record.id, references: record.names, sizeBytes: BigInt(record.sizeBytes) };
}
