import { join } from 'node:path';
import { type CgroupHierarchy, cgroupDirectory, readCgroupFile, treeOf } from './hierarchy.ts';

/** How many processes of the cgroup the kernel killed for memory; 0 where it does not count, or without the cgroup. */
export async function readOomKills(hierarchy: CgroupHierarchy, path: string): Promise<number> {
  const tree = treeOf(hierarchy, 'memory');
  if (tree === undefined) return 0;
  const name = tree.version === 1 ? 'memory.oom_control' : 'memory.events';
  const text = await readCgroupFile(join(cgroupDirectory(tree, path), name));
  return Number(/^oom_kill (\d+)$/m.exec(text ?? '')?.[1] ?? 0);
}
