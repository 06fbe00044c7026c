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
  /** The file or directory to pack. If it is a symbolic link, it is followed; links inside a packed directory are packed as links. */
  path: string;
  /** The name of the packed file or directory in the archive. */
  name: string;
  /** Called for each file that cannot be archived. */
  onSkipped: (message: string) => void;
};

/** Read size, and the size of the pieces that small files are combined into. */
const PIECE_BYTES = 256 << 10;

const SLASH = Buffer.from('/');

/**
 * A file or directory to add to the archive. `source` is the path to read it from; for all but the topmost entry, it is relative to an open
 * directory. `path` is used in messages. Names do not have to be UTF-8.
 */
type Entry = Omit<PackOptions, 'name'> & { name: Buffer; source: string | Buffer; facts: Stats; flags: number };
type Header = { name: Buffer; mode: number; uid: number; gid: number };

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/**
 * Packs a file or directory tree into a tar archive. Files outside the tree are never read, even if another process adds symbolic links to
 * the tree during packing: the receiving container might be slow and might be able to write to the tree. Throws disk errors, `aborted` if a
 * file changes while it is being read, and `failed_precondition` if `path` is neither a file nor a directory. Files are read synchronously:
 * the command has nothing else to do, and going through the thread pool takes longer than reading a small file.
 */
export function* packTree(options: PackOptions): Generator<Buffer, void, void> {
  const source = options.path;
  const facts = statSync(source);
  if (!facts.isFile() && !facts.isDirectory())
    throw new PodwrightError('failed_precondition', 'not a regular file or directory');
  yield* packEntry({ ...options, name: Buffer.from(options.name), source, facts, flags: O_RDONLY });
  yield ARCHIVE_END;
}

/** Combines small parts of the archive into larger pieces, since each piece has a fixed cost on its way to the container. */
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
  const { path, name, source, facts } = entry;
  const header = { name, mode: facts.mode & 0o7777, uid: facts.uid, gid: facts.gid };
  if (facts.isFile()) yield* packFile(entry, header);
  else if (facts.isSymbolicLink())
    yield tarHeader({ ...header, type: 'symlink', linkName: readlinkSync(source, 'buffer') });
  else if (facts.isDirectory()) yield* packDirectory(entry, header);
  else entry.onSkipped(`${path} is not a regular file: skipped`);
}

function* packDirectory(entry: Entry, header: Header): Generator<Buffer, void, void> {
  const { path, name } = entry;
  using directory = openEntry(entry, O_DIRECTORY);
  yield tarHeader({ ...header, name: Buffer.concat([name, SLASH]), type: 'directory' });
  const held = `/proc/self/fd/${directory.fd}`;
  for (const below of readdirSync(held, 'buffer').sort(Buffer.compare)) {
    const source = Buffer.concat([Buffer.from(`${held}/`), below]);
    const inside = { path: join(path, below.toString()), name: Buffer.concat([name, SLASH, below]), source };
    yield* packEntry({ ...entry, ...inside, facts: lstatSync(source), flags: O_RDONLY | O_NOFOLLOW });
  }
}

function* packFile(entry: Entry, header: Header): Generator<Buffer, void, void> {
  const { path } = entry;
  using file = openEntry(entry, O_NONBLOCK);
  const facts = fstatSync(file.fd);
  if (!facts.isFile()) throw changed(path);
  const { size } = facts;
  yield tarHeader({ ...header, type: 'file', size });
  // data appended to the file after its tar header was written is skipped, because the header contains the size
  for (let left = size; left > 0; ) {
    const chunk = Buffer.allocUnsafe(Math.min(left, PIECE_BYTES));
    const readBytes = readSync(file.fd, chunk);
    if (readBytes === 0) throw new PodwrightError('aborted', `${path} became shorter while it was read`);
    left -= readBytes;
    yield chunk.subarray(0, readBytes);
  }
  yield tarPadding(size);
}

type OpenFile = Disposable & { fd: number };

function openEntry({ path, source, flags }: Entry, kind: number): OpenFile {
  try {
    const fd = openSync(source, flags | kind);
    return { fd, [Symbol.dispose]: () => closeSync(fd) };
  } catch (error) {
    throw isErrno(error, 'ELOOP') || isErrno(error, 'ENOTDIR') ? changed(path) : error;
  }
}

function changed(path: string): PodwrightError {
  return new PodwrightError('aborted', `${path} became something else while it was read`);
}
