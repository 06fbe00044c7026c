import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { wrapError } from '@podwright/base';
import { cgroupDirectory, createCgroup, discoverCgroups } from '@podwright/host';

/** Moves this process to a cgroup of the host, which is created if needed. */
export async function moveToCgroup(path: string): Promise<void> {
  try {
    const hierarchy = await discoverCgroups();
    await createCgroup(hierarchy, path);
    for (const tree of hierarchy.trees)
      await writeFile(join(cgroupDirectory(tree, path), 'cgroup.procs'), String(process.pid));
  } catch (error) {
    throw wrapError(`move the dockershim to cgroup ${path} (runtime_cgroups)`, error, 'failed_precondition');
  }
}
