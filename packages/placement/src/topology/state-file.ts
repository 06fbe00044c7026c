/** Files in which the kubelet keeps what it has given out, with upstream's checksum: either kubelet goes on with the other's. */
import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  errorCode,
  isErrno,
  PodwrightError,
  PRIVATE_DIRECTORY,
  removeUnfinished,
  writeFileDurable,
} from '@podwright/base';

/** Files of what was given out are read at a start up to this size. */
const MAX_STATE_FILE_BYTES = 64 << 20;

/** The value of a JSON file, before anybody writes it; `undefined` if there is none. `data_loss` for one that is too large, or no JSON. */
export async function readStateFile(path: string): Promise<unknown> {
  try {
    await removeUnfinished(path).catch(() => undefined); // it says nothing of the file itself
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const { size } = await file.stat();
    if (size > MAX_STATE_FILE_BYTES) throw new Error(`it has ${size} bytes, more than ${MAX_STATE_FILE_BYTES}`);
    return JSON.parse(await file.readFile('utf8'));
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw new PodwrightError('data_loss', `read ${path}: ${(error as Error).message}`, { cause: error });
  }
}

/** Writes at a start what was read, or that nothing is given out yet: a full disk keeps no kubelet from starting. */
export async function writeAtStart(write: Promise<void>): Promise<void> {
  await write.catch((error: unknown) => {
    if (errorCode(error) !== 'resource_exhausted') throw error;
  });
}

export async function writeStateFile(path: string, value: object): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: PRIVATE_DIRECTORY });
  await writeFileDurable(path, JSON.stringify(value));
}

/** FNV-1a of 32 bits (RFC 9923) of the text that Go makes of the value: see `goMap`. */
export function checksumOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}

/** A map as go-spew writes it with `%#v` and sorted keys; keys that are numbers are sorted as such. */
export function goMap<T>(map: Record<string, T> | null, write: (value: T) => string): string {
  if (map === null) return '<nil>';
  const isNumeric = Object.keys(map).every((key) => /^-?\d+$/.test(key));
  const entries = Object.entries(map).sort(([a], [b]) => (isNumeric ? Number(a) - Number(b) : a < b ? -1 : 1));
  return `map[${entries.map(([key, value]) => `${key}:${write(value)}`).join(' ')}]`;
}

/** A list in the same way. */
export function goList<T>(list: readonly T[] | null, write: (value: T) => string = String): string {
  return list === null ? '<nil>' : `[${list.map(write).join(' ')}]`;
}
