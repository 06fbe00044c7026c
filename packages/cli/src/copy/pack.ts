import { type FileHandle, lstat, open, readdir, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PodwrightError } from '@podwright/base';
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

/** A file, or a directory and all below it, as a tar archive. Errors: those of the disk; `aborted` for a file that shrinks. */
export async function* packTree(options: PackOptions): AsyncGenerator<Buffer, void, void> {
  yield* packEntry(options, await stat(options.path));
  yield ARCHIVE_END;
}

async function* packEntry(options: PackOptions, facts: Facts): AsyncGenerator<Buffer, void, void> {
  const { path, name } = options;
  const entry = { name, mode: Number(facts.mode) & 0o7777, uid: Number(facts.uid), gid: Number(facts.gid) };
  if (facts.isFile()) return yield* packFile(path, entry);
  if (facts.isSymbolicLink()) {
    yield tarHeader({ ...entry, type: 'symlink', linkName: await readlink(path) });
    return;
  }
  if (!facts.isDirectory()) return options.onSkipped(`${path} is no file: left out`);
  yield tarHeader({ ...entry, name: `${name}/`, type: 'directory' });
  for (const below of (await readdir(path)).sort()) {
    const inside = join(path, below);
    yield* packEntry({ ...options, path: inside, name: `${name}/${below}` }, await lstat(inside));
  }
}

async function* packFile(
  path: string,
  entry: { name: string; mode: number; uid: number; gid: number },
): AsyncGenerator<Buffer, void, void> {
  await using file: FileHandle = await open(path);
  const { size } = await file.stat();
  yield tarHeader({ ...entry, type: 'file', size });
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
