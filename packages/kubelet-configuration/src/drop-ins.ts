import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { PodwrightError, wrapError } from '@podwright/base';
import { MAX_CONFIGURATION_BYTES, readConfigurationFile } from './configuration-file.ts';
import { type GivenFields, layFields } from './given-fields.ts';

const MAX_FILES = 1000;

/**
 * Merges the `*.conf` files of a directory and its subdirectories into a configuration, in lexical order. Throws `invalid_argument`, naming
 * the file, line and field at fault.
 */
export function readDropIns(directory: string, base: GivenFields): GivenFields {
  const files = confFiles(directory);
  if (files.length > MAX_FILES)
    throw new PodwrightError(
      'invalid_argument',
      `read ${directory}: it has ${files.length} files, at most ${MAX_FILES} are read`,
    );
  return files.reduce(
    (under, file) => layFields(under, readConfigurationFile(readConfigurationText(file), file)),
    base,
  );
}

/** Reads a configuration file. Throws `invalid_argument` if it cannot be read or is too large. */
function readConfigurationText(file: string): string {
  try {
    const { size } = statSync(file);
    if (size > MAX_CONFIGURATION_BYTES)
      throw new Error(`it has ${size} bytes; a configuration has at most ${MAX_CONFIGURATION_BYTES}`);
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw wrapError(`read ${file}`, error, 'invalid_argument');
  }
}

function confFiles(directory: string): string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
    return entries.flatMap((entry) => {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) return confFiles(path);
      return entry.name.endsWith('.conf') ? [path] : [];
    });
  } catch (error) {
    throw wrapError(`read ${directory}`, error, 'invalid_argument');
  }
}
