import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { errorMessage, isErrno, PodwrightError } from '@podwright/base';

/**
 * Maximum nesting depth of JSON. Podwright's own records have at most a third as many levels. A value with thousands of levels would
 * overflow the stack in `JSON.stringify` and in comparisons.
 */
const MAX_JSON_LEVELS = 64;

/**
 * Reads a file that was written by this process or an earlier one. Rejects with `data_loss` for devices and FIFOs, which might block or
 * never end, for files larger than `maxBytes`, and for symbolic links, which the next write would replace anyway.
 */
export async function readRegularFile(path: string, maxBytes: number): Promise<string> {
  await using file = await openWithoutWaiting(path);
  const stats = await file.stat();
  if (!stats.isFile()) throw damage('it is not a regular file');
  if (stats.size > maxBytes) throw damage(`it has ${stats.size} bytes, more than ${maxBytes}`);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(stats.size), 0, stats.size, 0);
  return buffer.toString('utf8', 0, bytesRead);
}

/**
 * Reads a file like `readRegularFile` does, and parses it. Also rejects with `data_loss` if the file is not valid JSON or is too deeply
 * nested.
 */
export async function readJsonFile(path: string, maxBytes: number): Promise<unknown> {
  const value = parse(await readRegularFile(path, maxBytes));
  if (hasMoreLevels(value, MAX_JSON_LEVELS)) throw damage(`it has more than ${MAX_JSON_LEVELS} levels`);
  return value;
}

async function openWithoutWaiting(path: string): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (isErrno(error, 'ELOOP')) throw damage('it is a symbolic link', error);
    throw isErrno(error, 'ENXIO') ? damage('it is not a regular file', error) : error; // ENXIO: the path is a socket
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw damage(`it is not JSON: ${errorMessage(error)}`, error);
  }
}

const damage = (why: string, cause?: unknown) => new PodwrightError('data_loss', why, { cause });

function hasMoreLevels(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((one) => hasMoreLevels(one, levels - 1));
}
