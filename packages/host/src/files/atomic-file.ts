import { randomBytes } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { open, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { PRIVATE_FILE } from '@podwright/base';
import { namesIn } from './directory.ts';

/**
 * Writes `path` atomically: readers see either the old content or all of the new content, even if this process crashes. The file is not
 * synced to disk, so a power failure might lose it. Use it for content that can be regenerated or that is useless after a reboot.
 */
export async function writeFileAtomic(path: string, data: string | Uint8Array, mode = PRIVATE_FILE): Promise<void> {
  await replaceFile(path, (temporary) => writeFile(temporary, data, { mode, flag: 'wx' }));
}

/** Like `writeFileAtomic`, but the file has also been synced to disk once this resolves. Use it for data that exists nowhere else. */
export async function writeFileDurable(path: string, data: string | Uint8Array, mode = PRIVATE_FILE): Promise<void> {
  await replaceFile(path, async (temporary) => {
    await using file = await open(temporary, 'wx', mode);
    await file.writeFile(data);
    await file.sync();
  });
  await syncDirectory(dirname(path));
}

/** Removes a file durably: once this resolves, the file does not reappear after a power failure. Rejects if the file does not exist. */
export async function removeFileDurable(path: string): Promise<void> {
  await rm(path);
  await syncDirectory(dirname(path));
}

/** Syncs a directory's entries to disk (fsync). */
export async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path, 'r');
  await directory.sync();
}

/** Replaces `path` with the file that `write` creates at a temporary path next to it. If `write` rejects, `path` is left unchanged. */
export async function replaceFile(path: string, write: (temporary: string) => Promise<void>): Promise<void> {
  const temporary = temporaryOf(path);
  try {
    await write(temporary);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Like `writeFileAtomic`, but synchronous. Use it for small files on tmpfs, where it takes a tenth of the time. */
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

/** Removes the temporary files of processes that were killed while writing `path`. No process may be writing `path` during the call. */
export async function removeUnfinished(path: string): Promise<void> {
  const [directory, prefix] = [dirname(path), `${basename(path)}.`];
  const isLeftover = (name: string) => name.startsWith(prefix) && /^[\da-f]{12}\.tmp$/.test(name.slice(prefix.length));
  for (const name of (await namesIn(directory)).filter(isLeftover)) await rm(join(directory, name), { force: true });
}

const temporaryOf = (path: string) => `${path}.${randomBytes(6).toString('hex')}.tmp`;
