import { open } from 'node:fs/promises';
import { PodwrightError, wrapError } from '@podwright/base';
import { MAX_SECCOMP_PROFILE_BYTES } from '../limits.ts';

/**
 * Reads a seccomp profile and returns it as single-line JSON, the format expected by the Engine. Throws `invalid_argument` if the file is
 * not a profile.
 */
export async function readSeccompProfile(path: string): Promise<string> {
  try {
    await using file = await open(path);
    const { size } = await file.stat();
    if (size > MAX_SECCOMP_PROFILE_BYTES)
      throw new PodwrightError('invalid_argument', `it has ${size} bytes; ${MAX_SECCOMP_PROFILE_BYTES} are allowed`);
    return JSON.stringify(JSON.parse(await file.readFile('utf8')));
  } catch (error) {
    throw wrapError(`read the seccomp profile ${path}`, error, 'invalid_argument');
  }
}
