import { stat, statfs } from 'node:fs/promises';
import { isErrno, PodwrightError, runChecked } from '@podwright/base';
import { bytesForImages, diskUsage, filesForImages } from '@podwright/images';

type VolumeCopy = { source: string; target: string; signal: AbortSignal };

/**
 * Copies what the image has in `source` into the volume `target`; nothing if it has nothing there. `path` begins error
 * messages. `invalid_argument` if it is no directory, `resource_exhausted` if there is no room for it.
 */
export async function fillVolume(path: string, { source, target, signal }: VolumeCopy): Promise<void> {
  const found = await stat(source).catch((error) => {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  });
  if (found === undefined) return;
  if (!found.isDirectory())
    throw new PodwrightError('invalid_argument', `make volume ${path}: it is no directory in the image`);
  await checkRoom(path, { source, target, signal });
  await runChecked('cp', ['-a', '--reflink=auto', '--', `${source}/.`, target], { signal });
}

/** An image may declare a thousand volumes, one within the other, and each is a copy of all that is below it. */
async function checkRoom(path: string, { source, target, signal }: VolumeCopy): Promise<void> {
  const { sizeBytes, inodes } = await diskUsage(source, signal);
  if (inodes <= 1) return; // most volumes are empty
  const space = await statfs(target);
  if (sizeBytes <= bytesForImages(space) && inodes <= filesForImages(space)) return;
  throw new PodwrightError(
    'resource_exhausted',
    `make volume ${path}: the image has ${sizeBytes} bytes in ${inodes} files there, and their copy does not fit on the disk of ${target}, of which some stays free; make room and try again`,
  );
}
