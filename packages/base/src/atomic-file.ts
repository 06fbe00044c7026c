import { randomBytes } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { PRIVATE_FILE } from './modes.ts';

/** Writes `path` so that a reader, or a crash, sees the old content or the new one, never a part. */
export async function writeFileAtomic(path: string, data: string | Uint8Array, mode = PRIVATE_FILE): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await writeFile(temporary, data, { mode, flag: 'wx' });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
