import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { OPEN_DIRECTORY, PRIVATE_DIRECTORY } from '@podwright/base';
import type { DirectoryProvisionerOptions } from '@podwright/controllers';
import { removeTree } from '@podwright/host';

/** Returns the directories for provisioned volumes. Each is world-writable, like those for claims on a node without an API. */
export function volumeDirectories(root: string): Omit<DirectoryProvisionerOptions, 'nodeName'> {
  const directory = join(root, 'volumes');
  return {
    directory,
    create: async (path) => {
      await mkdir(path, { recursive: true, mode: PRIVATE_DIRECTORY });
      await chmod(path, OPEN_DIRECTORY);
    },
    remove: removeTree,
  };
}
