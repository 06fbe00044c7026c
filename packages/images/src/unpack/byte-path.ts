import { PodwrightError } from '@podwright/base';

/** Maximum length of a path; same as the kernel's PATH_MAX. */
const MAX_NAME_BYTES = 4096;

/**
 * A path or name with one character per byte (latin1), because names in layers need not be UTF-8 and strings make better map keys than
 * buffers. `fsPath` converts it for node:fs.
 */
export type BytePath = string;

export function bytePathOf(path: string | Buffer): BytePath {
  return (typeof path === 'string' ? Buffer.from(path) : path).toString('latin1');
}

/** Converts a path for node:fs: to a string if it is ASCII, which is faster, otherwise to a buffer. */
export function fsPath(path: BytePath): string | Buffer {
  return /[^\x00-\x7f]/.test(path) ? Buffer.from(path, 'latin1') : path;
}

/** Quotes a path for messages. */
export function displayPath(path: BytePath): string {
  return JSON.stringify(Buffer.from(path, 'latin1').toString('utf8'));
}

/**
 * Returns the components of a name in a layer, with `.` and `..` resolved; a leading `/` refers to the layer's root. Throws
 * `invalid_argument` if the name escapes the layer, which only happens in hostile layers.
 */
export function layerComponents(name: Buffer): string[] {
  if (name.length > MAX_NAME_BYTES)
    throw refuse(`a name has ${name.length} bytes, the kernel allows ${MAX_NAME_BYTES}`);
  const components: string[] = [];
  for (const part of name.toString('latin1').split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') components.push(part);
    else if (components.pop() === undefined)
      throw refuse(`the name ${JSON.stringify(name.toString())} leads out of it`);
  }
  return components;
}

function refuse(message: string): PodwrightError {
  return new PodwrightError('invalid_argument', `unpack layer: ${message}`);
}
