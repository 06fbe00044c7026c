import { readdirSync, rmdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { errorMessage, type Logger, PRIVATE_DIRECTORY, PRIVATE_FILE } from '@podwright/base';
import { listenUnix } from '@podwright/host';
import type { Adaptation } from './adaptation.ts';

/**
 * Accepts plugins on a unix socket that only root can open, because plugins can change every container and are therefore as powerful as
 * root. Throws `already_exists` if another process is listening on the socket. Returns a function that removes the socket, and its
 * directory if that was created here.
 */
export async function listenForPlugins(
  adaptation: Adaptation,
  path: string,
  logger: Logger,
): Promise<() => Promise<void>> {
  const directory = dirname(path);
  const made = await mkdir(directory, { recursive: true, mode: PRIVATE_DIRECTORY });
  const server = createServer((socket) => {
    adaptation.connect(socket).catch((error: unknown) => {
      logger.error({ error: errorMessage(error) }, 'an NRI plugin could not be connected');
    });
  });
  const file = await listenUnix(server, path, PRIVATE_FILE);
  return async () => {
    server.close();
    await file.remove();
    if (made !== undefined && readdirSync(directory).length === 0) rmdirSync(directory);
  };
}
