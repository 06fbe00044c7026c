import { readFileSync, statSync } from 'node:fs';
import { wrapError } from '@podwright/base';

/** Maximum size of a configuration file; a larger one must have been specified by mistake. */
const MAX_FILE_BYTES = 1 << 20;

/** Reads a text file. Throws `invalid_argument` if it cannot be read or is too large. */
export function readText(file: string): string {
  try {
    const { size } = statSync(file);
    if (size > MAX_FILE_BYTES) throw new Error(`it has ${size} bytes; a configuration has at most ${MAX_FILE_BYTES}`);
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw wrapError(`read ${file}`, error, 'invalid_argument');
  }
}
