import { randomUUID } from 'node:crypto';
import { constants, readFileSync } from 'node:fs';
import { type FileHandle, open, opendir, rename, rmdir, unlink } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { isErrno, isNothingThere, PodwrightError, wrapError } from './errors.ts';
import { runProgram } from './program.ts';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
/** Directories below this depth are moved to the top and taken apart there: each level holds two descriptors. */
const MAX_DEPTH = 16;
const CLEAR_FLAGS_TIMEOUT_MS = 60_000;

/**
 * Removes a file or a directory with all that is in it, however deep or wide: other work goes on meanwhile, and little memory is
 * used. Processes may change the tree meanwhile, and delay the removal until the signal aborts: links are not followed, and nothing behind a
 * mount is removed, which is `failed_precondition`. No error if nothing is there, or can be. Rejects with the signal's reason once it aborts; the rest then stays.
 */
export async function removeTree(path: string, signal?: AbortSignal): Promise<void> {
  try {
    await using parent = await open(dirname(path), O_RDONLY | O_DIRECTORY);
    const top = { name: Buffer.from(basename(path)), depth: 0, isDirectory: true };
    await new TreeRemoval(parent, signal).remove(parent, top);
  } catch (error) {
    signal?.throwIfAborted();
    if (!isNothingThere(error)) throw wrapError(`remove ${path}`, error);
  }
}

/**
 * Clears the flags of files that are immutable or can only be appended to (ioctl_iflags(2)): a container with CAP_LINUX_IMMUTABLE sets
 * them. `found` are arguments of find(1), which passes names of any bytes to chattr(1). They are relative to the open directory, and
 * neither program follows links. An error of these programs is ignored: the removal then fails with the name of the file.
 */
async function clearFlags({ fd }: FileHandle, found: string[], signal: AbortSignal | undefined): Promise<void> {
  const bound = AbortSignal.any([AbortSignal.timeout(CLEAR_FLAGS_TIMEOUT_MS), ...(signal ? [signal] : [])]);
  const options = { cwd: `/proc/${process.pid}/fd/${fd}`, signal: bound, stderr: false };
  await runProgram('find', [...found, '-exec', 'chattr', '-f', '-i', '-a', '--', '{}', '+'], options).catch(
    () => undefined,
  );
}

/** Looking again cures these: another process put one kind of file in the place of another, or something into a directory. */
const CHANGED_MEANWHILE = ['ENOTDIR', 'EISDIR', 'ENOTEMPTY', 'ELOOP'];

/** An entry of a directory; `isDirectory` is what was read, which may have changed. */
type Entry = { name: Buffer; depth: number; isDirectory: boolean };

/**
 * Names are always looked up in an open directory, by proc_pid_fd(5): so paths stay short, and no part of one can turn into a link
 * on the way.
 */
class TreeRemoval {
  readonly #mount: string;
  readonly #signal: AbortSignal | undefined;
  #top: FileHandle | undefined;
  /** An error that remains without the flags: the directories above do not try again. */
  #refusal: unknown;

  constructor(parent: FileHandle, signal: AbortSignal | undefined) {
    this.#mount = mountOf(parent);
    this.#signal = signal;
  }

  /** Goes on for as long as another process changes the entry: the signal is the bound. */
  async remove(parent: FileHandle, entry: Entry): Promise<void> {
    const place = inDirectory(parent, entry.name);
    let hasCleared = false;
    for (let { isDirectory } = entry; ; isDirectory = !isDirectory) {
      this.#signal?.throwIfAborted();
      try {
        return isDirectory ? await this.#removeDirectory(place, entry.depth) : await unlink(place);
      } catch (error) {
        if (isErrno(error, 'ENOENT')) return;
        if (isErrno(error, 'ENOTEMPTY')) isDirectory = !isDirectory;
        else if (isErrno(error, 'EPERM') && error !== this.#refusal) {
          if (hasCleared) {
            this.#refusal = error;
            throw error;
          }
          hasCleared = true;
          isDirectory = !isDirectory;
          await this.#clearFlags(parent, entry);
        } else if (!CHANGED_MEANWHILE.some((code) => isErrno(error, code))) throw error;
      }
    }
  }

  /** Of the directory and all its entries at once, but of the parent of the tree only that entry. */
  async #clearFlags(parent: FileHandle, { name, depth }: Entry): Promise<void> {
    if (depth === 0) return await clearFlags(parent, [`./${name}`, '-maxdepth', '0'], this.#signal);
    await clearFlags(parent, ['.', '-maxdepth', '1'], this.#signal);
    if (depth > MAX_DEPTH) await clearFlags(this.#top!, ['.', '-maxdepth', '0'], this.#signal);
  }

  async #removeDirectory(place: Buffer, depth: number): Promise<void> {
    if (depth > MAX_DEPTH) return rename(place, inDirectory(this.#top!, Buffer.from(randomUUID())));
    await using directory = await open(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (mountOf(directory) !== this.#mount)
      throw new PodwrightError('failed_precondition', 'something is mounted in it; unmount that first');
    this.#top ??= directory;
    // Again while something has come meanwhile: deep directories come up here.
    do await this.#removeChildren(directory, depth + 1);
    while (!(await removeEmpty(place)));
  }

  async #removeChildren(directory: FileHandle, depth: number): Promise<void> {
    this.#signal?.throwIfAborted();
    const path = `/proc/self/fd/${directory.fd}`;
    // read in pieces: it may have millions of entries
    for await (const entry of await opendir(path, { encoding: 'buffer' as BufferEncoding })) {
      const name = entry.name as unknown as Buffer;
      await this.remove(directory, { name, depth, isDirectory: entry.isDirectory() });
    }
  }
}

/** False if there is something in the directory. */
async function removeEmpty(directory: Buffer): Promise<boolean> {
  try {
    await rmdir(directory);
    return true;
  } catch (error) {
    if (isErrno(error, 'ENOTEMPTY')) return false;
    throw error;
  }
}

const inDirectory = ({ fd }: FileHandle, name: Buffer) => Buffer.concat([Buffer.from(`/proc/self/fd/${fd}/`), name]);

/** The mount that an open file is on: bind mounts within one file system have the same device, but not the same mount. */
function mountOf({ fd }: FileHandle): string {
  return /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))![1]!;
}
