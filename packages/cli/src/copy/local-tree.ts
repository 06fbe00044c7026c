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

/** Names from an archive, a character a byte (latin1): file names need not be UTF-8. The last one is the file's. */
export type Names = string[];

/** How names are shown. */
export const showNames = (names: Names): string => Buffer.from(names.join('/'), 'latin1').toString('utf8');

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;

/**
 * A directory of the user's that is copied into. The names below it come from a container: each is looked up in an open directory,
 * and no symbolic link is followed or made, so that nothing is written elsewhere, whoever changes the tree meanwhile.
 *
 * Calls are synchronous: nothing else is to be done, and a way through the thread pool takes longer than a small file.
 */
export class LocalTree implements Disposable {
  readonly path: string;
  /** The directories on the way to the last entry, the tree's own first; `fd` is open. */
  readonly #way: { name: string; fd: number }[];

  private constructor(path: string, fd: number) {
    this.path = path;
    this.#way = [{ name: '', fd }];
  }

  /** `path` is the user's own word: links in it are followed, and directories that are missing are made. */
  static open(path: string, mode: number = CONTAINER_DIRECTORY): LocalTree {
    mkdirSync(path, { recursive: true, mode: directoryMode(mode) });
    return new LocalTree(path, openSync(path, O_RDONLY | O_DIRECTORY));
  }

  /** Makes a directory, with those above it. One that is there stays as it is. */
  makeDirectory(names: Names, mode: number): void {
    this.#enter(names, directoryMode(mode));
  }

  /** Writes a file in the place of what has its name, with the permission bits of `mode` less the umask. */
  async writeFile(names: Names, mode: number, body: AsyncIterable<Buffer>): Promise<void> {
    const place = this.#makePlace(names);
    await writeBody(openSync(place, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode & 0o777), body);
  }

  /** Gives a file of the tree another name. `invalid_argument` unless it is a regular file. */
  linkFile(names: Names, target: Names): void {
    const directory = openSync(this.#enter(target.slice(0, -1)), O_RDONLY | O_DIRECTORY);
    try {
      const source = child(directory, target.at(-1)!);
      if (!lstatSync(source, { throwIfNoEntry: false })?.isFile())
        throw new PodwrightError(
          'invalid_argument',
          `${showNames(names)} is a link to ${showNames(target)}, which was not copied`,
        );
      if (showNames(names) !== showNames(target)) linkSync(source, this.#makePlace(names));
    } finally {
      closeSync(directory);
    }
  }

  [Symbol.dispose](): void {
    for (const { fd } of this.#way.reverse()) closeSync(fd);
  }

  /** Where a file of this name can be made: nothing is there. */
  #makePlace(names: Names): Buffer {
    this.#enter(names.slice(0, -1));
    const place = child(this.#way.at(-1)!.fd, names.at(-1)!);
    try {
      unlinkSync(place);
    } catch (error) {
      if (isErrno(error, 'EISDIR'))
        throw new PodwrightError('failed_precondition', `${this.#show(names)} is a directory here`);
      if (!isErrno(error, 'ENOENT')) throw error;
    }
    return place;
  }

  /** Opens the directories on the way, making those that are missing. Returns a path of the last. */
  #enter(names: Names, mode: number = CONTAINER_DIRECTORY): Buffer {
    const way = this.#way;
    let depth = 0;
    while (depth < names.length && way[depth + 1]?.name === names[depth]) depth++;
    for (const { fd } of way.splice(depth + 1).reverse()) closeSync(fd);
    for (const name of names.slice(depth)) {
      const place = child(way.at(-1)!.fd, name);
      makeDirectory(place, mode);
      way.push({ name, fd: this.#openDirectory(place, names) });
    }
    return child(way.at(-1)!.fd, '.');
  }

  #openDirectory(place: Buffer, names: Names): number {
    try {
      return openSync(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    } catch (error) {
      if (!isErrno(error, 'ELOOP') && !isErrno(error, 'ENOTDIR')) throw error;
      const message = `${this.#show(names)} leads through what is no directory here; symbolic links are not followed`;
      throw new PodwrightError('failed_precondition', message);
    }
  }

  #show(names: Names): string {
    return `${this.path}/${showNames(names)}`;
  }
}

/** We must be able to write into what we make. */
const directoryMode = (mode: number): number => (mode & 0o777) | PRIVATE_DIRECTORY;

/** One that is there, whatever it is, is left as it is. */
function makeDirectory(place: Buffer, mode: number): void {
  try {
    mkdirSync(place, { mode });
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error;
  }
}

function child(fd: number, name: string): Buffer {
  return Buffer.from(`/proc/self/fd/${fd}/${name}`, 'latin1');
}

/** Writes a body into an open file and closes it. */
export async function writeBody(fd: number, body: AsyncIterable<Buffer>): Promise<void> {
  try {
    for await (const chunk of body) {
      for (let written = 0; written < chunk.length; ) written += writeSync(fd, chunk, written);
    }
  } finally {
    closeSync(fd);
  }
}

/** `resource_exhausted` if the file system of `path` has no room for so many bytes. */
export function checkRoom(path: string, sizeBytes: number, name: string): void {
  const { bavail, bsize } = statfsSync(path);
  if (sizeBytes <= bavail * bsize) return;
  const message = `${name} has ${sizeBytes} bytes, and ${path} has room for ${bavail * bsize}`;
  throw new PodwrightError('resource_exhausted', message);
}
