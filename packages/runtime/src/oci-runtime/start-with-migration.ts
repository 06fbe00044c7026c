import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CgroupHierarchy, cgroupDirectory, type ProgramStarter } from '@podwright/host';

/**
 * Starts programs that move a process to another cgroup, such as OCI runtimes. If there has been no such move for about 20 ms, a move waits
 * 5 to 15 ms for an RCU grace period (`cgroup_threadgroup_rwsem`, see "favordynmods" in the kernel's cgroup-v2.rst); moves right after it
 * do not. While the program is still starting, this process therefore moves itself to the cgroup it is already in, so that the program's
 * own move is fast. Programs started at the same time share this extra move, because each move occupies a thread of the libuv thread pool.
 */
export function startWithMigration(start: ProgramStarter, cgroups: CgroupHierarchy): ProgramStarter {
  let isMoving = false;
  /**
   * Moves this process to the cgroup that it is already in, so that the program's own move is fast. Ignores failures, for example if this
   * process is not allowed to write to the cgroup; the program's own move is then slow.
   */
  const anticipate = async () => {
    if (isMoving) return;
    isMoving = true;
    await moveToOwnCgroup(cgroups).catch(() => undefined);
    isMoving = false;
  };
  return (...program) => {
    void anticipate();
    return start(...program);
  };
}

/**
 * Moves this process to the cgroup that it is already in. This changes nothing but ends the kernel's wait for an RCU grace period, so that
 * the next move is fast.
 */
export async function moveToOwnCgroup({ trees: [tree] }: CgroupHierarchy): Promise<void> {
  const names = tree?.version === 2 ? '' : tree?.controllers.join(',');
  const own = readFileSync('/proc/self/cgroup', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .find((fields) => fields[1] === names);
  if (tree === undefined || own === undefined) return;
  await writeFile(join(cgroupDirectory(tree, own.slice(2).join(':')), 'cgroup.procs'), String(process.pid));
}
