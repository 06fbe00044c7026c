import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  type Stats,
  statSync,
} from 'node:fs';
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

/** What is read of a file at once, and sent at once of small ones. */
const PIECE_BYTES = 256 << 10;

const SLASH = Buffer.from('/');

/** Names need not be UTF-8; `path` is for people. `place` is where the entry is read: below what the user named, its name in a directory that is open. */
type Entry = Omit<PackOptions, 'name'> & { name: Buffer; place: string | Buffer; facts: Stats; flags: number };
type Header = { name: Buffer; mode: number; uid: number; gid: number };

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/**
 * A file, or a directory and all below it, as a tar archive. Nothing elsewhere is read, whoever puts links into the tree meanwhile:
 * who takes the archive may be slow, and may write there. Errors: those of the disk; `aborted` for what changes while it is read.
 *
 * Files are read synchronously: nothing else is to be done, and a way through the thread pool takes longer than a small file.
 */
export function* packTree(options: PackOptions): Generator<Buffer, void, void> {
  const place = options.path;
  yield* packEntry({ ...options, name: Buffer.from(options.name), place, facts: statSync(place), flags: O_RDONLY });
  yield ARCHIVE_END;
}

/** Puts what is small together: each piece of an archive costs all on its way as much as a large one. */
export function* inPieces(parts: Iterable<Buffer>): Generator<Buffer, void, void> {
  let [small, sizeBytes]: [Buffer[], number] = [[], 0];
  for (const part of parts) {
    if (small.length > 0 && sizeBytes + part.length > PIECE_BYTES) {
      yield small.length === 1 ? small[0]! : Buffer.concat(small);
      [small, sizeBytes] = [[], 0];
    }
    small.push(part);
    sizeBytes += part.length;
  }
  yield Buffer.concat(small);
}

function* packEntry(entry: Entry): Generator<Buffer, void, void> {
  const { path, name, place, facts } = entry;
  const header = { name, mode: facts.mode & 0o7777, uid: facts.uid, gid: facts.gid };
  if (facts.isFile()) yield* packFile(entry, header);
  else if (facts.isSymbolicLink())
    yield tarHeader({ ...header, type: 'symlink', linkName: readlinkSync(place, 'buffer') });
  else if (facts.isDirectory()) yield* packDirectory(entry, header);
  else entry.onSkipped(`${path} is no file: left out`);
}

function* packDirectory(entry: Entry, header: Header): Generator<Buffer, void, void> {
  const { path, name } = entry;
  using directory = openEntry(entry, O_DIRECTORY);
  yield tarHeader({ ...header, name: Buffer.concat([name, SLASH]), type: 'directory' });
  const held = `/proc/self/fd/${directory.fd}`;
  for (const below of readdirSync(held, 'buffer').sort(Buffer.compare)) {
    const place = Buffer.concat([Buffer.from(`${held}/`), below]);
    const inside = { path: join(path, below.toString()), name: Buffer.concat([name, SLASH, below]), place };
    yield* packEntry({ ...entry, ...inside, facts: lstatSync(place), flags: O_RDONLY | O_NOFOLLOW });
  }
}

function* packFile(entry: Entry, header: Header): Generator<Buffer, void, void> {
  const { path } = entry;
  using file = openEntry(entry, O_NONBLOCK);
  const facts = fstatSync(file.fd);
  if (!facts.isFile()) throw changed(path);
  const { size } = facts;
  yield tarHeader({ ...header, type: 'file', size });
  // what is appended meanwhile is left out: the header has told the size
  for (let left = size; left > 0; ) {
    const chunk = Buffer.allocUnsafe(Math.min(left, PIECE_BYTES));
    const readBytes = readSync(file.fd, chunk);
    if (readBytes === 0) throw new PodwrightError('aborted', `${path} became shorter while it was read`);
    left -= readBytes;
    yield chunk.subarray(0, readBytes);
  }
  yield tarPadding(size);
}

/** Closed when it is disposed of. */
type OpenFile = Disposable & { fd: number };

function openEntry({ path, place, flags }: Entry, kind: number): OpenFile {
  try {
    const fd = openSync(place, flags | kind);
    return { fd, [Symbol.dispose]: () => closeSync(fd) };
  } catch (error) {
    throw isErrno(error, 'ELOOP') || isErrno(error, 'ENOTDIR') ? changed(path) : error;
  }
}

function changed(path: string): PodwrightError {
  return new PodwrightError('aborted', `${path} became something else while it was read`);
}
