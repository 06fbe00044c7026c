import { createHash, randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { chmod, link, lstat, readdir, rm, stat, unlink } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { errorCode, isErrno, PodwrightError, PRIVATE_FILE, waitFor, withTimeout, wrapError } from '@podwright/base';
import { requireSocketPath } from './socket-path.ts';

/** A bound socket file; `remove` deletes it unless another process has replaced it. */
export type SocketFile = { path: string; remove(): Promise<void> };

/** Maximum number of attempts to claim a path at which the socket file keeps appearing and disappearing. */
const MAX_ATTEMPTS = 5;
/**
 * How long to wait for a probe connection. A live daemon accepts it immediately; if it is still pending after this time, the daemon is busy
 * and therefore also alive.
 */
const PROBE_TIMEOUT_MS = 2000;
/** Timeout for the takeover lock, longer than it takes another daemon to probe and replace a stale socket. */
const LOCK_TIMEOUT_MS = 3000;
/** Timeout for the takeover lock when removing a stale socket: short, because the daemon can still remove the socket on its next start. */
const SWEEP_LOCK_TIMEOUT_MS = 100;

/**
 * Makes `server` listen on the Unix socket `path` with file mode `mode`.
 *
 * The socket is bound under a temporary name and hard-linked to `path` once its mode is set, so that no client can connect too early and
 * two daemons that start at the same time cannot both claim the path. A stale socket left by a dead daemon is replaced. Throws
 * `already_exists` if a daemon is listening at the path, and `failed_precondition` if the path is not a socket.
 */
export async function listenUnix(server: Server, path: string, mode: number): Promise<SocketFile> {
  const temporary = join(dirname(path), `.${randomBytes(4).toString('hex')}`);
  requireSocketPath(path);
  await bind(server, temporary, path);
  try {
    await chmod(temporary, mode);
    await claim(temporary, path);
    const { ino, dev } = await lstat(temporary);
    return { path, remove: () => removeIfSame(path, { ino, dev }) };
  } catch (error) {
    server.close();
    throw error;
  } finally {
    await rm(temporary, { force: true }); // closing the server also removes the temporary name
  }
}

async function bind(server: Server, temporary: string, path: string): Promise<void> {
  const umask = process.umask(~PRIVATE_FILE & 0o777); // bind(2) happens within listen()
  try {
    server.listen(temporary);
  } finally {
    process.umask(umask);
  }
  try {
    await listening(server);
  } catch (error) {
    const isForbidden = isErrno(error, 'EACCES') || isErrno(error, 'EPERM');
    throw isForbidden ? wrapError(`listen on ${path}`, error, 'permission_denied') : failure(path, error);
  }
}

function listening(server: Server): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('listening', resolve).once('error', reject);
  return promise.finally(() => server.off('listening', resolve).off('error', reject));
}

async function claim(temporary: string, path: string): Promise<void> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    try {
      return await link(temporary, path);
    } catch (error) {
      if (!isErrno(error, 'EEXIST')) throw failure(path, error);
    }
    await removeStale(path);
  }
  throw new PodwrightError('aborted', `listen on ${path}: other daemons keep replacing the socket`);
}

/** Creates the error for a failed operation on a path: `resource_exhausted` if the disk is full, otherwise `internal`. */
function failure(path: string, error: unknown): PodwrightError {
  const isFull = errorCode(error) === 'resource_exhausted';
  return wrapError(`listen on ${path}`, error, isFull ? 'resource_exhausted' : 'internal');
}

/** Removes a dead daemon's socket, because no other daemon can link its own socket to that path while the file exists. */
async function removeStale(path: string): Promise<void> {
  await using _lock = await takeoverLock(path, LOCK_TIMEOUT_MS);
  const found = await lookAt(path);
  if (found === undefined) return;
  if (!found.isSocket()) {
    throw new PodwrightError(
      'failed_precondition',
      `listen on ${path}: it is not a socket; remove it or use another path`,
    );
  }
  if (await isAlive(path)) throw taken(path);
  await unlink(path);
}

/**
 * Removes the socket of a dead daemon, unless another daemon is currently replacing it. Only for sockets created by `listenUnix`, which are
 * already listening when their name appears. Not an error if the file does not exist or is not a socket.
 */
export async function removeStaleSocket(path: string): Promise<void> {
  if (await isAlive(path)) return;
  await using lock = await takeoverLock(path, SWEEP_LOCK_TIMEOUT_MS);
  // while this process holds the lock, no other daemon replaces the socket
  if (lock.isHeld && (await lookAt(path))?.isSocket() && !(await isAlive(path))) await rm(path, { force: true });
}

/**
 * Removes the sockets of dead daemons in an existing directory, like `removeStaleSocket`, if their names end with the suffix. The programs
 * that created them might never start again, so they would not remove the sockets themselves.
 */
export async function removeStaleSockets(directory: string, suffix: string): Promise<void> {
  const names = (await readdir(directory)).filter((name) => name.endsWith(suffix));
  for (const name of names) await removeStaleSocket(join(directory, name));
}

/** Throws `already_exists` if a daemon is listening at the path. An early check for daemons that do a lot of work before they listen. */
export async function refuseTakenSocket(path: string): Promise<void> {
  if ((await lookAt(path))?.isSocket() && (await isAlive(path))) throw taken(path);
}

function taken(path: string): PodwrightError {
  return new PodwrightError(
    'already_exists',
    `listen on ${path}: a running daemon already answers there; stop it or choose another socket`,
  );
}

/**
 * Takes the lock that serializes the removal of stale sockets, so that no daemon removes the live socket that another has just linked. The
 * lock is a name in the abstract socket namespace (unix(7)), which disappears with its process. Any user on the host can take that name, so
 * after `timeoutMs` this function proceeds without the lock.
 */
async function takeoverLock(path: string, timeoutMs: number): Promise<AsyncDisposable & { isHeld: boolean }> {
  // the device and inode numbers identify the directory even if it is reached by several paths, such as /proc/PID/fd/N
  const { dev, ino } = await stat(dirname(path));
  const name = `\0podwright-${createHash('sha256')
    .update(`${dev} ${ino} ${basename(path)}`)
    .digest('hex')}`;
  const lock = createServer();
  const take = async () => {
    lock.listen(name);
    await listening(lock);
    return true;
  };
  using signal = withTimeout(undefined, timeoutMs, `lock ${path}`);
  const isHeld = await waitFor(() => take().catch(() => undefined), { intervalMs: 10, signal }).catch(() => false);
  return { isHeld, [Symbol.asyncDispose]: async () => void lock.close() };
}

/** Returns the path's `lstat`; `undefined` if it does not exist. */
async function lookAt(path: string): Promise<Stats | undefined> {
  return await lstat(path).catch((error: unknown) => {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw wrapError(`look at ${path}`, error);
  });
}

/** Whether a probe's error proves that no process is listening. Other errors, such as EAGAIN and EMFILE, do not. */
const isDead = (error: Error) => ['ECONNREFUSED', 'ENOENT', 'EACCES'].some((code) => isErrno(error, code));

async function isAlive(path: string): Promise<boolean> {
  using signal = withTimeout(undefined, PROBE_TIMEOUT_MS, `connect to ${path}`);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(path);
  signal.addEventListener('abort', () => resolve(true), { once: true });
  socket.once('connect', () => resolve(true)).once('error', (error) => resolve(!isDead(error)));
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}

async function removeIfSame(path: string, own: { ino: number; dev: number }): Promise<void> {
  const found = await lookAt(path);
  if (found?.ino === own.ino && found.dev === own.dev) await rm(path, { force: true }); // `force`: another daemon may be removing the file
}
