import { mkdir, realpath } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { errorCode, listenUnix, POD_DIRECTORY, PodwrightError, PRIVATE_FILE } from '@podwright/base';

/** A socket in the root directory on which the kubelet that has the directory listens: it ends with its process. */
const LOCK = 'kubelet.lock';

/** Locks a root directory until the returned function is called. `already_exists` if another kubelet has it. */
export async function lockRoot(rootDir: string): Promise<() => Promise<void>> {
  await mkdir(rootDir, { recursive: true, mode: POD_DIRECTORY });
  const server = createServer((socket) => socket.destroy());
  try {
    const file = await listenUnix(server, join(await realpath(rootDir), LOCK), PRIVATE_FILE);
    server.unref();
    return async () => {
      server.close();
      await file.remove();
    };
  } catch (error) {
    if (errorCode(error) !== 'already_exists') throw error;
    const message = `start the kubelet: another kubelet uses the root directory ${rootDir}`;
    throw new PodwrightError('already_exists', `${message}; stop it, or choose another directory with --root`);
  }
}
