import { unlinkSync } from 'node:fs';
import type { Server } from 'node:http';
import { createConnection } from 'node:net';
import { isErrno, PodwrightError, wrapError } from '@podwright/base';

/**
 * Listens on a unix socket that only its owner may open. A socket file that nobody answers on is left from a
 * killed process and removed; a live one is `already_exists`.
 */
export async function listenOnUnixSocket(server: Server, path: string): Promise<void> {
  await removeStale(path);
  // The mode must be right from the first moment: the umask is set around the bind, which happens in this tick.
  const before = process.umask(0o177);
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => reject(wrapError(`listen on ${path}`, error)));
      server.listen(path, resolve);
      process.umask(before);
    });
  } finally {
    process.umask(before);
  }
}

async function removeStale(path: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<'alive' | 'dead' | 'absent'>();
  const probe = createConnection(path);
  probe.on('connect', () => resolve('alive'));
  probe.on('error', (error) => {
    if (isErrno(error, 'ENOENT')) resolve('absent');
    else if (isErrno(error, 'ECONNREFUSED')) resolve('dead');
    else reject(wrapError(`look at ${path}`, error));
  });
  const found = await promise.finally(() => probe.destroy());
  if (found === 'alive') {
    throw new PodwrightError(
      'already_exists',
      `listen on ${path}: a live node answers there; stop it, or give this one another --state folder`,
    );
  }
  if (found === 'dead') unlinkSync(path);
}
