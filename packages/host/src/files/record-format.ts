import { constants, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord, PodwrightError, VERSION, wrapError } from '@podwright/base';
import { writeFileAtomicSync } from './atomic-file.ts';

/**
 * The file that records the format of the other files in its directory: a number that is incremented whenever older versions of Podwright
 * cannot read the new records, and the version that wrote it. Without this file, the format is 1.
 */
const FILE = 'format.json';

/** Flags for opening the format file: must not block on a FIFO, and must not follow a symbolic link, for example to an endless device. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

type RecordFormat = { format: number; version: string };

/**
 * Throws `failed_precondition` if the records in `directory` are in a newer format than `newest`, the latest one that Podwright version
 * `reader` supports. Changes nothing.
 */
export function requireFormat(directory: string, newest: number, reader = VERSION): void {
  const { format, version } = readFormat(directory) ?? { format: 1, version: reader };
  if (format <= newest) return;
  const what = `podwright ${version} has written the records in ${directory} in format ${format}, and podwright ${reader} reads formats up to ${newest}`;
  throw new PodwrightError(
    'failed_precondition',
    `${what}; nothing was changed: start podwright ${version} again, or use another root directory (--root)`,
  );
}

/**
 * Records that this version writes its records in format `newest`. The caller must hold the directory's lock and must not have changed
 * anything yet. Throws the same errors as `requireFormat`.
 */
export function claimFormat(directory: string, newest: number): void {
  requireFormat(directory, newest);
  const before = readFormat(directory);
  if (before?.format === newest && before.version === VERSION) return;
  const path = join(directory, FILE);
  try {
    writeFileAtomicSync(path, `${JSON.stringify({ format: newest, version: VERSION })}\n`);
  } catch (error) {
    // the daemon must start even if the disk is full; if the format is unchanged, only the recorded version would differ
    if ((before?.format ?? 1) !== newest) throw wrapError(`write ${path}`, error);
  }
}

/**
 * Reads the format file. An unreadable file is treated as missing, because the records carry their own versions, which are checked later.
 */
function readFormat(directory: string): RecordFormat | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(join(directory, FILE), { encoding: 'utf8', flag: FLAGS }));
    if (!isRecord(value) || !Number.isSafeInteger(value.format) || typeof value.version !== 'string') return undefined;
    return { format: value.format as number, version: value.version };
  } catch {
    return undefined;
  }
}
