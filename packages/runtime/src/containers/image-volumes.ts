import { stat, statfs } from 'node:fs/promises';
import { isErrno, PodwrightError } from '@podwright/base';
import { measureTree, runChecked } from '@podwright/host';
import { bytesForImages, filesForImages } from '@podwright/images';

type VolumeCopy = { source: string; target: string; signal: AbortSignal };

/**
 * Copies the image's directory `source` to the volume `target`. No-op if `source` does not exist. `path`: the volume's path in the
 * container, for error messages. Rejects with `invalid_argument` if `source` is not a directory, and with `resource_exhausted` if there is
 * not enough disk space.
 */
export async function fillVolume(path: string, { source, target, signal }: VolumeCopy): Promise<void> {
  const found = await stat(source).catch((error) => {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  });
  if (found === undefined) return;
  if (!found.isDirectory())
    throw new PodwrightError('invalid_argument', `make volume ${path}: it is not a directory in the image`);
  await checkRoom(path, { source, target, signal });
  await runChecked('cp', ['-a', '--reflink=auto', '--', `${source}/.`, target], { signal });
}

/**
 * Checks that there is enough disk space for a copy: an image can declare a thousand nested volumes, each of which is filled with a copy of
 * everything under its path.
 */
async function checkRoom(path: string, { source, target, signal }: VolumeCopy): Promise<void> {
  const { sizeBytes, inodes } = (await measureTree(source, { signal })).usage;
  if (inodes <= 1) return; // most volumes are empty
  const space = await statfs(target);
  if (sizeBytes <= bytesForImages(space) && inodes <= filesForImages(space)) return;
  throw new PodwrightError(
    'resource_exhausted',
    `make volume ${path}: the image has ${sizeBytes} bytes in ${inodes} files there, and their copy would leave too little space on the disk of ${target}; free some space and try again`,
  );
}
