import {
  closeSync,
  constants,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  statfsSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { CONTAINER_DIRECTORY, isErrno, PodwrightError, PRIVATE_DIRECTORY } from '@podwright/base';

/**
 * The components of an archive entry's path, with the file name last. They are decoded as latin1 (one character per byte), because file
 * names need not be UTF-8.
 */
export type Names = string[];

/** Formats an archive entry's path for messages. */
export const showNames = (names: Names): string => Buffer.from(names.join('/'), 'latin1').toString('utf8');

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;

/**
 * The destination directory of a copy. The names in it come from a container and are untrusted: each one is opened relative to a directory
 * that is already open, and symbolic links are neither followed nor created. Nothing is written outside the directory, even if another
 * process changes the tree concurrently.
 *
 * Calls are synchronous: the command has nothing else to do, and going through the thread pool takes longer than writing a small file.
 */
export class LocalTree implements Disposable {
  readonly path: string;
  /** The open directories on the path to the last unpacked entry, starting with the root of the tree. */
  readonly #open: { name: string; fd: number }[];

  private constructor(path: string, fd: number) {
    this.path = path;
    this.#open = [{ name: '', fd }];
  }

  /** Opens the tree at `path`, which is given by the user: symbolic links in `path` are followed, and missing directories are created. */
  static open(path: string, mode: number = CONTAINER_DIRECTORY): LocalTree {
    mkdirSync(path, { recursive: true, mode: directoryMode(mode) });
    return new LocalTree(path, openSync(path, O_RDONLY | O_DIRECTORY));
  }

  /** Creates a directory and any missing parents. An existing directory is left unchanged. */
  makeDirectory(names: Names, mode: number): void {
    this.#enter(names, directoryMode(mode));
  }

  /** Writes a file, replacing an existing one. Its mode is the permission bits of `mode`, minus the umask. */
  async writeFile(names: Names, mode: number, body: AsyncIterable<Buffer>): Promise<void> {
    const path = this.#freePath(names);
    await writeBody(openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode & 0o777), body);
  }

  /** Creates a hard link to a file in the tree. Throws `invalid_argument` unless `target` is a regular file. */
  linkFile(names: Names, target: Names): void {
    const directory = openSync(this.#enter(target.slice(0, -1)), O_RDONLY | O_DIRECTORY);
    try {
      const source = child(directory, target.at(-1)!);
      if (!lstatSync(source, { throwIfNoEntry: false })?.isFile())
        throw new PodwrightError(
          'invalid_argument',
          `${showNames(names)} is a link to ${showNames(target)}, which was not copied`,
        );
      if (showNames(names) !== showNames(target)) linkSync(source, this.#freePath(names));
    } finally {
      closeSync(directory);
    }
  }

  [Symbol.dispose](): void {
    for (const { fd } of this.#open.reverse()) closeSync(fd);
  }

  /** Removes any existing file at the entry's path, and returns a path for creating the new one. */
  #freePath(names: Names): Buffer {
    this.#enter(names.slice(0, -1));
    const path = child(this.#open.at(-1)!.fd, names.at(-1)!);
    try {
      unlinkSync(path);
    } catch (error) {
      if (isErrno(error, 'EISDIR'))
        throw new PodwrightError('failed_precondition', `${this.#show(names)} is a directory here`);
      if (!isErrno(error, 'ENOENT')) throw error;
    }
    return path;
  }

  /** Opens the directories along a path, creating missing ones. Returns a path that refers to the last directory. */
  #enter(names: Names, mode: number = CONTAINER_DIRECTORY): Buffer {
    const open = this.#open;
    let depth = 0;
    while (depth < names.length && open[depth + 1]?.name === names[depth]) depth++;
    for (const { fd } of open.splice(depth + 1).reverse()) closeSync(fd);
    for (const name of names.slice(depth)) {
      const path = child(open.at(-1)!.fd, name);
      makeDirectory(path, mode);
      open.push({ name, fd: this.#openDirectory(path, names) });
    }
    return child(open.at(-1)!.fd, '.');
  }

  #openDirectory(path: Buffer, names: Names): number {
    try {
      return openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    } catch (error) {
      if (!isErrno(error, 'ELOOP') && !isErrno(error, 'ENOTDIR')) throw error;
      const message = `${this.#show(names)} leads through a non-directory here; symbolic links are not followed`;
      throw new PodwrightError('failed_precondition', message);
    }
  }

  #show(names: Names): string {
    return `${this.path}/${showNames(names)}`;
  }
}

/** Adds full permissions for the owner, because this process must be able to write to the directory. */
const directoryMode = (mode: number): number => (mode & 0o777) | PRIVATE_DIRECTORY;

/** Creates a directory unless something already exists at the path. */
function makeDirectory(path: Buffer, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error;
  }
}

function child(fd: number, name: string): Buffer {
  return Buffer.from(`/proc/self/fd/${fd}/${name}`, 'latin1');
}

/** Writes a file's contents to an open file, and closes it. */
export async function writeBody(fd: number, body: AsyncIterable<Buffer>): Promise<void> {
  try {
    for await (const chunk of body) {
      for (let written = 0; written < chunk.length; ) written += writeSync(fd, chunk, written);
    }
  } finally {
    closeSync(fd);
  }
}

/** Throws `resource_exhausted` if the file system that contains `path` has less than `sizeBytes` of free space. */
export function checkRoom(path: string, sizeBytes: number, name: string): void {
  const { bavail, bsize } = statfsSync(path);
  if (sizeBytes <= bavail * bsize) return;
  const message = `${name} has ${sizeBytes} bytes, but ${path} has only ${bavail * bsize} bytes of free space`;
  throw new PodwrightError('resource_exhausted', message);
}
