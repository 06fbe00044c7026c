import { closeSync, constants, openSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import {
  errorCode,
  errorMessage,
  ignoreFailure,
  isAlreadyExists,
  makePrivateDirectory,
  POD_DIRECTORY,
  PodwrightError,
  PRIVATE_FILE,
} from '@podwright/base';
import { listenUnix, removeStaleSockets } from '@podwright/host';

/**
 * Directory that contains one socket per locked root directory; a lock disappears with its process. It takes no space on the root
 * directory's disk, which pods may have filled up, and belongs to root, so that no other user can create a lock in it.
 */
const LOCKS_DIRECTORY = '/run/podwright-kubelets';

const SUFFIX = '.lock';

/**
 * A second socket, in the root directory itself, for kubelets that have a different `/run` (in a container, for example) or no write access
 * to it.
 */
const LOCK = 'kubelet.lock';

type Unlock = () => Promise<void>;

/**
 * Locks a root directory until the returned function is called or the process ends. Rejects with `already_exists` if another kubelet has
 * locked it. Either of the two sockets is sufficient: on a full disk, the one in the root directory cannot be created, and only root can
 * create the other one.
 */
export async function lockRoot(rootDir: string): Promise<Unlock> {
  await mkdir(rootDir, { recursive: true, mode: POD_DIRECTORY });
  const release = await lockOnHost(rootDir).catch((error: unknown) => {
    if (isAlreadyExists(error)) throw isTaken(rootDir);
    return undefined;
  });
  try {
    const unlock = await lockInside(rootDir);
    return async () => {
      await unlock();
      await release?.();
    };
  } catch (error) {
    if (release !== undefined && errorCode(error) === 'resource_exhausted') return release;
    await release?.();
    throw error;
  }
}

async function lockOnHost(rootDir: string): Promise<Unlock> {
  const { dev, ino } = await stat(rootDir, { bigint: true }); // a directory may have several paths
  makePrivateDirectory(LOCKS_DIRECTORY);
  const release = await holdSocket(join(LOCKS_DIRECTORY, `${dev}-${ino}${SUFFIX}`));
  // remove the sockets of killed kubelets, which those kubelets might never do themselves: their root directories might no longer exist
  ignoreFailure(removeStaleSockets(LOCKS_DIRECTORY, SUFFIX), 'the next kubelet tries again');
  return release;
}

async function lockInside(rootDir: string): Promise<Unlock> {
  // use a path through a file descriptor, because socket paths are limited to 107 bytes
  const directory = openSync(rootDir, constants.O_RDONLY | constants.O_DIRECTORY);
  const held = `/proc/self/fd/${directory}`;
  try {
    const release = await holdSocket(join(held, LOCK));
    return async () => {
      await release();
      closeSync(directory);
    };
  } catch (error) {
    closeSync(directory);
    if (isAlreadyExists(error)) throw isTaken(rootDir);
    const why = errorMessage(error).replaceAll(held, rootDir);
    const message = `lock the root directory ${rootDir}: ${why}; or choose another directory with --root`;
    throw new PodwrightError(errorCode(error), message, { cause: error });
  }
}

async function holdSocket(path: string): Promise<Unlock> {
  const server = createServer((socket) => socket.destroy());
  const file = await listenUnix(server, path, PRIVATE_FILE);
  server.unref();
  return async () => {
    server.close();
    await file.remove();
  };
}

function isTaken(rootDir: string): PodwrightError {
  const message = `start the kubelet: another kubelet uses the root directory ${rootDir}`;
  return new PodwrightError('already_exists', `${message}; stop it, or choose another directory with --root`);
}
