import { randomUUID } from 'node:crypto';
import { constants, readFileSync } from 'node:fs';
import { type FileHandle, open, opendir, rename, rmdir, unlink } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { isErrno, isNothingThere, PodwrightError, wrapError } from '@podwright/base';
import { runProgram } from '../programs/program.ts';
import { freeLargeFiles } from './free-large-files.ts';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
/**
 * Directories below this depth are moved to the top of the directory tree and removed there, because each level keeps two file descriptors
 * open.
 */
const MAX_DEPTH = 16;
const CLEAR_FLAGS_TIMEOUT_MS = 60_000;
/** Number of entries to remove before freeing the space of large files, which requires a second, parallel walk through the tree. */
const MANY_ENTRIES = 10_000;

/**
 * Removes a file, or a directory and its contents, however deep or wide, using little memory and without blocking the event loop. Other
 * processes may modify the directory tree at the same time, which can delay the removal until the signal aborts. In a tree with many
 * entries, the large files are removed first, because removing all entries may take minutes. Symbolic links are not followed. A mount in
 * the tree is not removed; the call then rejects with `failed_precondition`. Not an error if `path` does not exist or one of its parents is
 * not a directory. If the signal aborts, the call rejects with the signal's reason, and whatever is left of the tree stays in place.
 */
export async function removeTree(path: string, signal?: AbortSignal): Promise<void> {
  try {
    await using parent = await open(dirname(path), O_RDONLY | O_DIRECTORY);
    const top = { name: Buffer.from(basename(path)), depth: 0, isDirectory: true };
    using removal = new TreeRemoval(parent, signal);
    await removal.remove(parent, top);
  } catch (error) {
    signal?.throwIfAborted();
    if (!isNothingThere(error)) throw wrapError(`remove ${path}`, error);
  }
}

/**
 * Clears the immutable and append-only flags of files (ioctl_iflags(2)), which a container with CAP_LINUX_IMMUTABLE can set. `found` holds
 * the find(1) arguments that select the files, relative to the open directory; unlike this process, find can pass names that are not UTF-8
 * to chattr(1). Neither program follows symbolic links. Their errors are ignored, because the removal then fails with an error that names
 * the file.
 */
async function clearFlags({ fd }: FileHandle, found: string[], signal: AbortSignal | undefined): Promise<void> {
  const bound = AbortSignal.any([AbortSignal.timeout(CLEAR_FLAGS_TIMEOUT_MS), ...(signal ? [signal] : [])]);
  const options = { cwd: `/proc/${process.pid}/fd/${fd}`, signal: bound, stderr: false };
  await runProgram('find', [...found, '-exec', 'chattr', '-f', '-i', '-a', '--', '{}', '+'], options).catch(
    () => undefined,
  );
}

/**
 * Errors that are worth a retry, because another process has replaced the entry with one of a different type or has added files to the
 * directory.
 */
const CHANGED_MEANWHILE = ['ENOTDIR', 'EISDIR', 'ENOTEMPTY', 'ELOOP'];

/** A directory entry. `isDirectory` is its type at the time when the directory was read; the type might have changed since. */
type Entry = { name: Buffer; depth: number; isDirectory: boolean };

/**
 * Looks up every name through the file descriptor of its open parent directory (proc_pid_fd(5)), so that paths stay short and no parent can
 * be replaced by a symbolic link before the lookup.
 */
class TreeRemoval {
  readonly #mount: string;
  readonly #signal: AbortSignal | undefined;
  #top: FileHandle | undefined;
  /**
   * The error that persisted after the flags were cleared. The calls for the parent directories rethrow it without clearing flags again.
   */
  #refusal: unknown;
  #removed = 0;
  readonly #ended = new AbortController();

  constructor(parent: FileHandle, signal: AbortSignal | undefined) {
    this.#mount = mountOf(parent);
    this.#signal = signal;
  }

  [Symbol.dispose](): void {
    this.#ended.abort();
  }

  /** Removes an entry. Retries for as long as another process keeps changing the entry; only the signal ends the retries. */
  async remove(parent: FileHandle, entry: Entry): Promise<void> {
    const path = inDirectory(parent, entry.name);
    let hasCleared = false;
    for (let { isDirectory } = entry; ; isDirectory = !isDirectory) {
      this.#signal?.throwIfAborted();
      try {
        await (isDirectory ? this.#removeDirectory(path, entry.depth) : unlink(path));
        break;
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
    this.#countRemoved();
  }

  #countRemoved(): void {
    this.#removed++;
    if (this.#removed === MANY_ENTRIES && this.#top !== undefined) freeLargeFiles(this.#top, this.#ended.signal);
  }

  /**
   * Clears the immutable and append-only flags of the directory and all its entries in one call. For the root of the tree to remove, clears
   * only its own flags and not those of its siblings.
   */
  async #clearFlags(parent: FileHandle, { name, depth }: Entry): Promise<void> {
    if (depth === 0) return await clearFlags(parent, [`./${name}`, '-maxdepth', '0'], this.#signal);
    await clearFlags(parent, ['.', '-maxdepth', '1'], this.#signal);
    if (depth > MAX_DEPTH) await clearFlags(this.#top!, ['.', '-maxdepth', '0'], this.#signal);
  }

  async #removeDirectory(path: Buffer, depth: number): Promise<void> {
    if (depth > MAX_DEPTH) return rename(path, inDirectory(this.#top!, Buffer.from(randomUUID())));
    await using directory = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (mountOf(directory) !== this.#mount)
      throw new PodwrightError('failed_precondition', 'it contains a mount; unmount that first');
    this.#top ??= directory;
    // repeat while new entries appear, because directories nested too deeply are moved to the top of the tree
    do await this.#removeChildren(directory, depth + 1);
    while (!(await removeEmpty(path)));
  }

  async #removeChildren(directory: FileHandle, depth: number): Promise<void> {
    this.#signal?.throwIfAborted();
    const path = `/proc/self/fd/${directory.fd}`;
    // read in batches, because the directory may have millions of entries
    for await (const entry of await opendir(path, { encoding: 'buffer' as BufferEncoding })) {
      const name = entry.name as unknown as Buffer;
      await this.remove(directory, { name, depth, isDirectory: entry.isDirectory() });
    }
  }
}

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

/** Returns the mount ID of an open file. Bind mounts of the same file system have the same device number, but different mount IDs. */
function mountOf({ fd }: FileHandle): string {
  return /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))![1]!;
}
