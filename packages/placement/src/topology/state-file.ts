/** Checkpoint files with upstream's checksum, so that users can switch between this kubelet and upstream's. */
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode, isErrno, PodwrightError, PRIVATE_DIRECTORY } from '@podwright/base';
import { readJsonFile, removeUnfinished, writeFileDurable } from '@podwright/host';

/**
 * Maximum size of a state file: enough for 10,000 claims or containers with devices. Parsing that much takes up to 300 MB, of the 1 GB that
 * the kubelet may use.
 */
const MAX_STATE_FILE_BYTES = 16 << 20;

/**
 * Reads a state file and parses it as JSON; `undefined` if there is no file. Must be called before the first write. Rejects with
 * `data_loss` if the file is too large, not a regular file, or not JSON.
 */
export async function readStateFile(path: string): Promise<unknown> {
  try {
    await removeUnfinished(path).catch(() => undefined); // temporary files of killed writers do not affect the file itself
    return await readJsonFile(path, MAX_STATE_FILE_BYTES);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw new PodwrightError('data_loss', `read ${path}: ${(error as Error).message}`, { cause: error });
  }
}

/**
 * Awaits the first write of a state file. Ignores a full disk, which must not prevent the kubelet from starting: at that point, the state
 * is either what the file already contains or the initial state.
 */
export async function writeAtStart(write: Promise<void>): Promise<void> {
  await write.catch((error: unknown) => {
    if (errorCode(error) !== 'resource_exhausted') throw error;
  });
}

export async function writeStateFile(path: string, value: object): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: PRIVATE_DIRECTORY });
  await writeFileDurable(path, JSON.stringify(value));
}

/** Computes the 32-bit FNV-1a hash (RFC 9923) of a value in Go's print format; see `goMap`. */
export function checksumOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}

/** Formats a map as go-spew's `%#v` does, sorted by key; numeric keys are sorted numerically. */
export function goMap<T>(map: Record<string, T> | null, write: (value: T) => string): string {
  if (map === null) return '<nil>';
  const isNumeric = Object.keys(map).every((key) => /^-?\d+$/.test(key));
  const entries = Object.entries(map).sort(([a], [b]) => (isNumeric ? Number(a) - Number(b) : a < b ? -1 : 1));
  return `map[${entries.map(([key, value]) => `${key}:${write(value)}`).join(' ')}]`;
}

/** Formats a list as go-spew's `%#v` does. */
export function goList<T>(list: readonly T[] | null, write: (value: T) => string = String): string {
  return list === null ? '<nil>' : `[${list.map(write).join(' ')}]`;
}
