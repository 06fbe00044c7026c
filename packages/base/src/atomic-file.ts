import { randomBytes } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { open, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { namesIn } from './directory.ts';
import { PRIVATE_FILE } from './modes.ts';

/**
 * Writes `path` so that a reader, or a crash of this process, sees the old content or the new one, never a part. A power cut may lose
 * it: for what can be made again, or is of no use after a boot of the host.
 */
export async function writeFileAtomic(path: string, data: string | Uint8Array, mode = PRIVATE_FILE): Promise<void> {
  await replaceFile(path, (temporary) => writeFile(temporary, data, { mode, flag: 'wx' }));
}

/** As `writeFileAtomic`, and on the disk when it resolves: for what is known from this file alone. */
export async function writeFileDurable(path: string, data: string | Uint8Array, mode = PRIVATE_FILE): Promise<void> {
  await replaceFile(path, async (temporary) => {
    await using file = await open(temporary, 'wx', mode);
    await file.writeFile(data);
    await file.sync();
  });
  await syncDirectory(dirname(path));
}

/** Removes a file; when it resolves, a power cut does not bring the file back. Rejects if there is none. */
export async function removeFileDurable(path: string): Promise<void> {
  await rm(path);
  await syncDirectory(dirname(path));
}

/** Writes the names in a directory to the disk. */
export async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path, 'r');
  await directory.sync();
}

async function replaceFile(path: string, write: (temporary: string) => Promise<void>): Promise<void> {
  const temporary = temporaryOf(path);
  try {
    await write(temporary);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** The same at once: for small files in memory, for which that takes a tenth of the time. */
export function writeFileAtomicSync(path: string, data: string, mode = PRIVATE_FILE): void {
  const temporary = temporaryOf(path);
  try {
    writeFileSync(temporary, data, { mode, flag: 'wx' });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Removes what processes that were killed while they wrote `path` have left beside it. Nobody may be writing it meanwhile. */
export async function removeUnfinished(path: string): Promise<void> {
  const [directory, prefix] = [dirname(path), `${basename(path)}.`];
  const isLeft = (name: string) => name.startsWith(prefix) && /^[\da-f]{12}\.tmp$/.test(name.slice(prefix.length));
  for (const name of (await namesIn(directory)).filter(isLeft)) await rm(join(directory, name), { force: true });
}

const temporaryOf = (path: string) => `${path}.${randomBytes(6).toString('hex')}.tmp`;
