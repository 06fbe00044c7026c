import { dirname } from 'node:path';
import { PodwrightError } from '@podwright/base';

/**
 * Maximum length of a Unix socket path: `sun_path` has 108 bytes, including the terminating NUL (unix(7)). In a separate module so that
 * commands do not have to load the code that serves sockets.
 */
export const MAX_SOCKET_PATH_BYTES = 107;

/** Length of `/.` and eight hexadecimal digits: the temporary name of a socket that is being bound. */
const TEMPORARY_NAME_BYTES = 10;

/** Throws `invalid_argument` if `listenUnix` cannot bind a socket at `path`. */
export function requireSocketPath(path: string): void {
  const bytes = Math.max(Buffer.byteLength(path), Buffer.byteLength(dirname(path)) + TEMPORARY_NAME_BYTES);
  if (bytes <= MAX_SOCKET_PATH_BYTES) return;
  const limit = `Linux allows ${MAX_SOCKET_PATH_BYTES} bytes for a socket`;
  throw new PodwrightError(
    'invalid_argument',
    `listen on ${path}: the path is too long (${limit}); choose a shorter directory`,
  );
}
