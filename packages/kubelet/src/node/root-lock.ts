import { closeSync, constants, openSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { errorCode, errorMessage, listenUnix, POD_DIRECTORY, PodwrightError, PRIVATE_FILE } from '@podwright/base';

/** A socket in the root directory on which its kubelet listens, so that the lock ends with the process. */
const LOCK = 'kubelet.lock';

/** Locks a root directory until the returned function is called. Rejects with `already_exists` if another kubelet has it. */
export async function lockRoot(rootDir: string): Promise<() => Promise<void>> {
  await mkdir(rootDir, { recursive: true, mode: POD_DIRECTORY });
  const server = createServer((socket) => socket.destroy());
  // socket paths are limited to 107 bytes, so use a path through the descriptor
  const directory = openSync(rootDir, constants.O_RDONLY | constants.O_DIRECTORY);
  const held = `/proc/self/fd/${directory}`;
  try {
    const file = await listenUnix(server, join(held, LOCK), PRIVATE_FILE);
    server.unref();
    return async () => {
      server.close();
      await file.remove();
      closeSync(directory);
    };
  } catch (error) {
    closeSync(directory);
    if (errorCode(error) === 'already_exists') {
      const message = `start the kubelet: another kubelet uses the root directory ${rootDir}`;
      throw new PodwrightError('already_exists', `${message}; stop it, or choose another directory with --root`);
    }
    const why = errorMessage(error).replaceAll(held, rootDir);
    const message = `lock the root directory ${rootDir}: ${why}; or choose another directory with --root`;
    throw new PodwrightError(errorCode(error), message, { cause: error });
  }
}
