import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { isErrno, PodwrightError } from '@podwright/base';

/** Linux's O_PATH, which is missing from node:fs. Opens a file only for path resolution. */
export const O_PATH = 0o10000000;

/**
 * Returns the content of a regular file in a volume; `undefined` if there is none. Since containers may modify the volume concurrently,
 * symlinks are resolved once and never followed after that. Rejects with `failed_precondition` if the resolved path is outside the volume.
 */
export async function readInside(root: string, path: string, maxBytes: number): Promise<Buffer | undefined> {
  try {
    const realRoot = await realpath(root);
    const inside = relative(realRoot, await realpath(join(realRoot, path)));
    if (inside === '..' || inside.startsWith('../')) throw refuse(path, 'it leads out of the volume');
    return await readBelow(realRoot, inside.split('/'), { path, maxBytes });
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    if (isErrno(error, 'EAGAIN')) throw refuse(path, 'a container has a lease on it');
    if (['ELOOP', 'ENOTDIR'].some((code) => isErrno(error, code)))
      throw refuse(path, 'a part of it is a link or a file');
    throw error;
  }
}

async function readBelow(
  root: string,
  names: string[],
  { path, maxBytes }: { path: string; maxBytes: number },
): Promise<Buffer> {
  let place = await open(root, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    for (const name of names.slice(0, -1)) {
      const next = await open(inDirectory(place, name), O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
      await place.close();
      place = next;
    }
    // without these flags, opening a FIFO would block forever, and opening a file on which a container holds a lease would block for 45 s
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    await using file = await open(inDirectory(place, names.at(-1)!), flags);
    const stats = await file.stat();
    if (!stats.isFile()) throw refuse(path, 'it is not a regular file');
    const { buffer, bytesRead } = await file.read(Buffer.alloc(maxBytes + 1), 0, maxBytes + 1, 0);
    if (bytesRead > maxBytes) throw refuse(path, `it is larger than ${maxBytes} bytes`);
    return buffer.subarray(0, bytesRead);
  } finally {
    await place.close();
  }
}

function inDirectory(place: FileHandle, name: string): string {
  return `/proc/self/fd/${place.fd}/${name}`;
}

function refuse(path: string, why: string): PodwrightError {
  return new PodwrightError('failed_precondition', `file "${path}" of the volume: ${why}`);
}
