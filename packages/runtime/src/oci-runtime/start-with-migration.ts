import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CgroupHierarchy, cgroupDirectory, type ProgramStarter } from '@podwright/base';

/**
 * Starts programs that will move a process to another cgroup, as OCI runtimes move a container's. The kernel makes the first
 * such move in some 20 ms wait 5 to 15 ms for an RCU grace period (`cgroup_threadgroup_rwsem`, see "favordynmods" in the
 * kernel's document on cgroup v2), and lets those right after it pass. So this process is moved to where it is, while the
 * program that will make the move is only being started: once for programs that are started at once, as each such move keeps
 * one of the few threads that files are read by.
 */
export function startWithMigration(start: ProgramStarter, cgroups: CgroupHierarchy): ProgramStarter {
  let isMoving = false;
  /** Never fails: without it the move itself waits. It may not write there, as in a container. */
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

/** Moves this process to the cgroup that it is in. */
export async function moveToOwnCgroup({ trees: [tree] }: CgroupHierarchy): Promise<void> {
  const names = tree?.version === 2 ? '' : tree?.controllers.join(',');
  const own = readFileSync('/proc/self/cgroup', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .find((fields) => fields[1] === names);
  if (tree === undefined || own === undefined) return;
  await writeFile(join(cgroupDirectory(tree, own.slice(2).join(':')), 'cgroup.procs'), String(process.pid));
}
