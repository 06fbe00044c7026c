import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { OPEN_DIRECTORY, PRIVATE_DIRECTORY } from '@podwright/base';
import type { DirectoryProvisionerOptions } from '@podwright/controllers';
import { removeTree } from '@podwright/host';

/** The directories of provisioned volumes. Each is writable by every user, as those of claims are on a node without an API. */
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
