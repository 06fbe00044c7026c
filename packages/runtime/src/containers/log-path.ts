import { join, normalize } from 'node:path';
import { PodwrightError } from '@podwright/base';

/** Where the log goes; '' if the sandbox or the container wants none. Nothing may lead out of the sandbox's directory. */
export function logPath(directory: string, path: string): string {
  if (directory === '' || path === '') return '';
  const joined = join(directory, path);
  if (!joined.startsWith(`${normalize(directory).replace(/\/$/, '')}/`)) {
    throw new PodwrightError('invalid_argument', `use logPath "${path}": it leads out of ${directory}`);
  }
  return joined;
}
