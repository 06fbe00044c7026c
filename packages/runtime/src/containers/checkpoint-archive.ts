import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, type FileHandle, lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, isAbsolute, normalize } from 'node:path';
import { isErrno, PodwrightError, PRIVATE_FILE, STICKY, WRITABLE_BY_OTHERS, wrapError } from '@podwright/base';
import { runChecked } from '@podwright/host';

/**
 * Opens the directory of a checkpoint archive. The archive is written through this file descriptor, so that replacing the directory with a
 * symbolic link has no effect. Errors: `invalid_argument` if the location is not a normalized absolute path, or if it exists and is not a
 * regular file; `failed_precondition` if other users could replace files in the directory; `not_found` if the directory does not exist.
 */
export async function openArchiveTarget(location: string): Promise<ArchiveTarget> {
  const refuse = (code: 'invalid_argument' | 'failed_precondition', why: string) =>
    new PodwrightError(code, `write archive ${JSON.stringify(location)}: ${why}`);
  if (!isAbsolute(location) || normalize(location) !== location || location.endsWith('/') || location.includes('\0'))
    throw refuse('invalid_argument', 'its path must be absolute and normalized');
  const handle = await open(dirname(location), constants.O_RDONLY | constants.O_DIRECTORY).catch((error: unknown) => {
    throw wrapError(
      `open the directory of archive ${location}`,
      error,
      isErrno(error, 'ENOENT') ? 'not_found' : 'invalid_argument',
    );
  });
  const target = new ArchiveTarget(handle, basename(location));
  try {
    const { uid, mode } = await handle.stat();
    if (uid !== process.getuid?.() || ((mode & WRITABLE_BY_OTHERS) !== 0 && (mode & STICKY) === 0))
      throw refuse('failed_precondition', `users other than ${process.getuid?.()} can replace files in its directory`);
    if (await target.isTaken()) throw refuse('invalid_argument', 'it exists and is not a regular file');
    return target;
  } catch (error) {
    await target[Symbol.asyncDispose]();
    throw error;
  }
}

class ArchiveTarget implements AsyncDisposable {
  readonly #directory: FileHandle;
  readonly #name: string;

  constructor(directory: FileHandle, name: string) {
    this.#directory = directory;
    this.#name = name;
  }

  /** Returns true if something other than a regular file, which must not be replaced, already exists under the archive's name. */
  async isTaken(): Promise<boolean> {
    const stats = await lstat(this.#path(this.#name)).catch(unlessMissing);
    return stats !== undefined && !stats.isFile();
  }

  /**
   * Packs the contents of `directory` into a temporary file, and renames the file once it is complete. Leaves no file behind on failure.
   */
  async write(directory: string, signal: AbortSignal): Promise<void> {
    const partial = this.#path(`.${randomUUID()}.partial`);
    try {
      await using archive = await open(partial, 'wx', PRIVATE_FILE); // the archive contains the container's memory
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
 * Copies a regular file. No-op if the path does not exist or is not a regular file: a container may have replaced its log with a symbolic
 * link to a file on the host.
 */
export async function copyPlainFile(source: string, target: string): Promise<void> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  await using file = await open(source, flags).catch(unlessMissing);
  if (file === undefined || !(await file.stat()).isFile()) return;
  await copyFile(`/proc/self/fd/${file.fd}`, target, constants.COPYFILE_EXCL);
}

/**
 * Swallows the errors for a missing file, a symbolic link (ELOOP, because of O_NOFOLLOW) and a socket (ENXIO). Rethrows any other error.
 */
function unlessMissing(error: unknown): undefined {
  if (!['ENOENT', 'ELOOP', 'ENXIO'].some((code) => isErrno(error, code))) throw error;
}
