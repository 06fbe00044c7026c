import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, type FileHandle, lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, isAbsolute, normalize } from 'node:path';
import {
  isErrno,
  PodwrightError,
  PRIVATE_FILE,
  runChecked,
  STICKY,
  WRITABLE_BY_OTHERS,
  wrapError,
} from '@podwright/base';

/**
 * The directory that a checkpoint's archive is to be written into, held open: what is done by `path` is done in it, also when
 * its path becomes a link meanwhile. Errors: `invalid_argument` for a location that is not absolute and in its
 * shortest form or that something else than a file has, `failed_precondition` for a directory in which others could exchange
 * the archive, `not_found` without the directory.
 */
export async function openArchivePlace(location: string): Promise<ArchivePlace> {
  const refuse = (code: 'invalid_argument' | 'failed_precondition', why: string) =>
    new PodwrightError(code, `write archive ${JSON.stringify(location)}: ${why}`);
  if (!isAbsolute(location) || normalize(location) !== location || location.endsWith('/') || location.includes('\0'))
    throw refuse('invalid_argument', 'it must have an absolute path in its shortest form');
  const handle = await open(dirname(location), constants.O_RDONLY | constants.O_DIRECTORY).catch((error: unknown) => {
    throw wrapError(
      `open the directory of archive ${location}`,
      error,
      isErrno(error, 'ENOENT') ? 'not_found' : 'invalid_argument',
    );
  });
  const place = new ArchivePlace(handle, basename(location));
  try {
    const { uid, mode } = await handle.stat();
    if (uid !== process.getuid?.() || ((mode & WRITABLE_BY_OTHERS) !== 0 && (mode & STICKY) === 0))
      throw refuse('failed_precondition', `others than user ${process.getuid?.()} can exchange files in its directory`);
    if (await place.isTaken()) throw refuse('invalid_argument', 'there is something that is no plain file');
    return place;
  } catch (error) {
    await place[Symbol.asyncDispose]();
    throw error;
  }
}

class ArchivePlace implements AsyncDisposable {
  readonly #directory: FileHandle;
  readonly #name: string;

  constructor(directory: FileHandle, name: string) {
    this.#directory = directory;
    this.#name = name;
  }

  /** Whether something has the archive's name that may not be replaced. */
  async isTaken(): Promise<boolean> {
    const stats = await lstat(this.#path(this.#name)).catch(unlessMissing);
    return stats !== undefined && !stats.isFile();
  }

  /** Packs what is in `directory`; the archive has its name once it is whole. On failure nothing is left. */
  async write(directory: string, signal: AbortSignal): Promise<void> {
    const partial = this.#path(`.${randomUUID()}.partial`);
    try {
      await using archive = await open(partial, 'wx', PRIVATE_FILE); // the container's memory is private
      const file = `/proc/${process.pid}/fd/${archive.fd}`;
      await runChecked('tar', ['--create', '--file', file, '--directory', directory, ...(await readdir(directory))], {
        signal,
      });
      await rename(partial, this.#path(this.#name));
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#directory.close();
  }

  #path(name: string): string {
    return `/proc/self/fd/${this.#directory.fd}/${name}`;
  }
}

/**
 * Copies a plain file. What is something else by now, such as a link to a file of the host in place of a log, is left out, as
 * is what is gone.
 */
export async function copyPlainFile(source: string, target: string): Promise<void> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  await using file = await open(source, flags).catch(unlessMissing);
  if (file === undefined || !(await file.stat()).isFile()) return;
  await copyFile(`/proc/self/fd/${file.fd}`, target, constants.COPYFILE_EXCL);
}

/** ELOOP is a link, ENXIO a socket. */
function unlessMissing(error: unknown): undefined {
  if (!['ENOENT', 'ELOOP', 'ENXIO'].some((code) => isErrno(error, code))) throw error;
}
