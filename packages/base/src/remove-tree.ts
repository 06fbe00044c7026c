import { randomUUID } from 'node:crypto';
import { constants, readFileSync } from 'node:fs';
import { type FileHandle, open, opendir, rename, rmdir, unlink } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { isErrno, PodwrightError, wrapError } from './errors.ts';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
/** Directories below this depth are moved to the top and taken apart there: each level holds two descriptors. */
const MAX_DEPTH = 16;

/**
 * Removes a file or a directory with all that is in it, however deep or wide: other work goes on meanwhile, and little memory is
 * used. Whoever made the tree may be changing it: links are not followed, and nothing behind a mount is removed, which is
 * `failed_precondition`. No error if there is nothing. Rejects with the signal's reason once it aborts; the rest then stays.
 */
export async function removeTree(path: string, signal?: AbortSignal): Promise<void> {
  try {
    await using parent = await open(dirname(path), O_RDONLY | O_DIRECTORY);
    await new TreeRemoval(parent, signal).remove(parent, Buffer.from(basename(path)));
  } catch (error) {
    signal?.throwIfAborted();
    if (!isErrno(error, 'ENOENT')) throw wrapError(`remove ${path}`, error);
  }
}

/**
 * Names are always looked up in an open directory, by proc_pid_fd(5): so paths stay short, and no part of one can turn into a link
 * on the way.
 */
class TreeRemoval {
  readonly #mount: string;
  readonly #signal: AbortSignal | undefined;
  #top: FileHandle | undefined;

  constructor(parent: FileHandle, signal: AbortSignal | undefined) {
    this.#mount = mountOf(parent);
    this.#signal = signal;
  }

  async remove(parent: FileHandle, name: Buffer): Promise<void> {
    await this.#removeDirectory(parent, { name, depth: 0 });
  }

  async #removeDirectory(parent: FileHandle, { name, depth }: { name: Buffer; depth: number }): Promise<void> {
    const place = inDirectory(parent, name);
    if (depth > MAX_DEPTH) return rename(place, inDirectory(this.#top!, Buffer.from(randomUUID())));
    const directory = await openDirectory(place);
    if (directory === undefined) return unlink(place);
    await using _ = directory;
    if (mountOf(directory) !== this.#mount)
      throw new PodwrightError('failed_precondition', 'something is mounted in it; unmount that first');
    this.#top ??= directory;
    // Again while there was something: deep directories come up here meanwhile.
    while ((await this.#removeChildren(directory, depth)) > 0);
    await rmdir(place);
  }

  /** Returns how many there were. */
  async #removeChildren(directory: FileHandle, depth: number): Promise<number> {
    let count = 0;
    // read in pieces: it may have millions of entries
    for await (const entry of await opendir(`/proc/self/fd/${directory.fd}`, {
      encoding: 'buffer' as BufferEncoding,
    })) {
      this.#signal?.throwIfAborted();
      const name = entry.name as unknown as Buffer;
      await this.#removeChild(directory, { name, depth: depth + 1, isDirectory: entry.isDirectory() }).catch(
        ignoreGone,
      );
      count++;
    }
    return count;
  }

  async #removeChild(
    directory: FileHandle,
    { isDirectory, ...child }: { name: Buffer; depth: number; isDirectory: boolean },
  ): Promise<void> {
    if (isDirectory) return await this.#removeDirectory(directory, child);
    try {
      await unlink(inDirectory(directory, child.name));
    } catch (error) {
      if (!isErrno(error, 'EISDIR')) throw error; // not every file system says what an entry is
      await this.#removeDirectory(directory, child);
    }
  }
}

/** `undefined` if it is no directory. */
async function openDirectory(place: Buffer): Promise<FileHandle | undefined> {
  try {
    return await open(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    if (isErrno(error, 'ENOTDIR') || isErrno(error, 'ELOOP')) return undefined;
    throw error;
  }
}

function ignoreGone(error: unknown): void {
  if (!isErrno(error, 'ENOENT')) throw error;
}

const inDirectory = ({ fd }: FileHandle, name: Buffer) => Buffer.concat([Buffer.from(`/proc/self/fd/${fd}/`), name]);

/** The mount that an open file is on: bind mounts within one file system have the same device, but not the same mount. */
function mountOf({ fd }: FileHandle): string {
  return /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))![1]!;
}
