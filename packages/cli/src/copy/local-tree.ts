import { constants } from 'node:fs';
import { type FileHandle, link, lstat, mkdir, open, statfs, unlink } from 'node:fs/promises';
import { CONTAINER_DIRECTORY, isErrno, PodwrightError, PRIVATE_DIRECTORY } from '@podwright/base';

/** Names from an archive, a character a byte (latin1): file names need not be UTF-8. The last one is the file's. */
export type Names = string[];

/** How names are shown. */
export const showNames = (names: Names): string => Buffer.from(names.join('/'), 'latin1').toString('utf8');

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;

/**
 * A directory of the user's that is copied into. The names below it come from a container: each is looked up in an open directory,
 * and no symbolic link is followed or made, so that nothing is written elsewhere, whoever changes the tree meanwhile.
 */
export class LocalTree implements AsyncDisposable {
  readonly path: string;
  /** The directories on the way to the last entry, the tree's own first. */
  readonly #way: { name: string; handle: FileHandle }[];

  private constructor(path: string, handle: FileHandle) {
    this.path = path;
    this.#way = [{ name: '', handle }];
  }

  /** `path` is the user's own word: links in it are followed, and directories that are missing are made. */
  static async open(path: string, mode: number = CONTAINER_DIRECTORY): Promise<LocalTree> {
    await mkdir(path, { recursive: true, mode: directoryMode(mode) });
    return new LocalTree(path, await open(path, O_RDONLY | O_DIRECTORY));
  }

  /** Makes a directory, with those above it. One that is there stays as it is. */
  async makeDirectory(names: Names, mode: number): Promise<void> {
    await this.#enter(names, directoryMode(mode));
  }

  /** Writes a file in the place of what has its name, with the permission bits of `mode` less the umask. */
  async writeFile(names: Names, mode: number, body: AsyncIterable<Buffer>): Promise<void> {
    const place = await this.#makePlace(names);
    const handle = await open(place, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode & 0o777);
    await writeBody(handle, body);
  }

  /** Gives a file of the tree another name. `invalid_argument` unless it is a regular file. */
  async linkFile(names: Names, target: Names): Promise<void> {
    const name = target.at(-1)!;
    const directory = await this.#enter(target.slice(0, -1));
    await using held = await open(directory, O_RDONLY | O_DIRECTORY);
    const source = child(held, name);
    const found = await lstat(source).catch(() => undefined);
    if (!found?.isFile())
      throw new PodwrightError(
        'invalid_argument',
        `${showNames(names)} is a link to ${showNames(target)}, which was not copied`,
      );
    if (showNames(names) !== showNames(target)) await link(source, await this.#makePlace(names));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { handle } of this.#way.reverse()) await handle.close();
  }

  /** Where a file of this name can be made: nothing is there. */
  async #makePlace(names: Names): Promise<Buffer> {
    await this.#enter(names.slice(0, -1));
    const place = child(this.#way.at(-1)!.handle, names.at(-1)!);
    try {
      await unlink(place);
    } catch (error) {
      if (isErrno(error, 'EISDIR'))
        throw new PodwrightError('failed_precondition', `${this.#show(names)} is a directory here`);
      if (!isErrno(error, 'ENOENT')) throw error;
    }
    return place;
  }

  /** Opens the directories on the way, making those that are missing. Returns a path of the last. */
  async #enter(names: Names, mode: number = CONTAINER_DIRECTORY): Promise<Buffer> {
    const way = this.#way;
    let depth = 0;
    while (depth < names.length && way[depth + 1]?.name === names[depth]) depth++;
    for (const { handle } of way.splice(depth + 1).reverse()) await handle.close();
    for (const name of names.slice(depth)) {
      const place = child(way.at(-1)!.handle, name);
      await mkdir(place, { mode }).catch((error: unknown) => {
        if (!isErrno(error, 'EEXIST')) throw error;
      });
      way.push({ name, handle: await this.#openDirectory(place, names) });
    }
    return child(way.at(-1)!.handle, '.');
  }

  async #openDirectory(place: Buffer, names: Names): Promise<FileHandle> {
    try {
      return await open(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
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

function child({ fd }: FileHandle, name: string): Buffer {
  return Buffer.from(`/proc/self/fd/${fd}/${name}`, 'latin1');
}

/** Writes a body and closes the file. */
export async function writeBody(handle: FileHandle, body: AsyncIterable<Buffer>): Promise<void> {
  await using file = handle;
  for await (const chunk of body) await file.writeFile(chunk);
}

/** `resource_exhausted` if the file system of `path` has no room for so many bytes. */
export async function checkRoom(path: string, sizeBytes: number, name: string): Promise<void> {
  const { bavail, bsize } = await statfs(path);
  if (sizeBytes <= bavail * bsize) return;
  const message = `${name} has ${sizeBytes} bytes, and ${path} has room for ${bavail * bsize}`;
  throw new PodwrightError('resource_exhausted', message);
}
