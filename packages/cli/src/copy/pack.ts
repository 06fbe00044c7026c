import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno, PodwrightError } from '@podwright/base';
import { ARCHIVE_END, tarHeader, tarPadding } from '@podwright/images/tar';

export type PackOptions = {
  /** What is packed; a link here is followed, those below it stay links. */
  path: string;
  /** Its name in the archive. */
  name: string;
  /** Called for what cannot be in it. */
  onSkipped: (message: string) => void;
};

type Facts = Awaited<ReturnType<typeof stat>>;
/** `place` is where the entry is read: below what the user named, its name in a directory that is open. */
type Entry = PackOptions & { place: string; facts: Facts; flags: number };
type Header = { name: string; mode: number; uid: number; gid: number };

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/**
 * A file, or a directory and all below it, as a tar archive. Nothing elsewhere is read, whoever puts links into the tree meanwhile:
 * who takes the archive may be slow, and may write there. Errors: those of the disk; `aborted` for what changes while it is read.
 */
export async function* packTree(options: PackOptions): AsyncGenerator<Buffer, void, void> {
  const place = options.path;
  yield* packEntry({ ...options, place, facts: await stat(place), flags: O_RDONLY });
  yield ARCHIVE_END;
}

async function* packEntry(entry: Entry): AsyncGenerator<Buffer, void, void> {
  const { path, name, place, facts } = entry;
  const header = { name, mode: Number(facts.mode) & 0o7777, uid: Number(facts.uid), gid: Number(facts.gid) };
  if (facts.isFile()) yield* packFile(entry, header);
  else if (facts.isSymbolicLink()) yield tarHeader({ ...header, type: 'symlink', linkName: await readlink(place) });
  else if (facts.isDirectory()) yield* packDirectory(entry, header);
  else entry.onSkipped(`${path} is no file: left out`);
}

async function* packDirectory(entry: Entry, header: Header): AsyncGenerator<Buffer, void, void> {
  const { path, name } = entry;
  await using directory = await openEntry(entry, O_DIRECTORY);
  yield tarHeader({ ...header, name: `${name}/`, type: 'directory' });
  const held = `/proc/self/fd/${directory.fd}`;
  for (const below of (await readdir(held)).sort()) {
    const place = `${held}/${below}`;
    const inside = { path: join(path, below), name: `${name}/${below}`, place, facts: await lstat(place) };
    yield* packEntry({ ...entry, ...inside, flags: O_RDONLY | O_NOFOLLOW });
  }
}

async function* packFile(entry: Entry, header: Header): AsyncGenerator<Buffer, void, void> {
  const { path } = entry;
  await using file = await openEntry(entry, O_NONBLOCK);
  const facts = await file.stat();
  if (!facts.isFile()) throw changed(path);
  const { size } = facts;
  yield tarHeader({ ...header, type: 'file', size });
  let left = size;
  if (size > 0) {
    // what is appended meanwhile is left out: the header has told the size
    for await (const chunk of file.createReadStream({ end: size - 1, autoClose: false })) {
      left -= (chunk as Buffer).length;
      yield chunk as Buffer;
    }
  }
  if (left > 0) throw new PodwrightError('aborted', `${path} became shorter while it was read`);
  yield tarPadding(size);
}

async function openEntry({ path, place, flags }: Entry, kind: number): Promise<FileHandle> {
  try {
    return await open(place, flags | kind);
  } catch (error) {
    throw isErrno(error, 'ELOOP') || isErrno(error, 'ENOTDIR') ? changed(path) : error;
  }
}

function changed(path: string): PodwrightError {
  return new PodwrightError('aborted', `${path} became something else while it was read`);
}
