import { readdirSync, rmdirSync, rmSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { errorCode, isErrno, PodwrightError, sleep } from '@podwright/base';
import { type CgroupHierarchy, endScope, killCgroup, removeCgroup } from '@podwright/host';
import { findByCommandLine, isRunning, killProcessTrees, signalProcess } from '@podwright/system';
import { forgetTask } from '../../oci-runtime/oci-program.ts';
import type { ThrowAway } from '../../oci-runtime/state-files.ts';
import { CGROUP_END_ATTEMPTS, CGROUP_END_MS, MONITOR_END_MS, SEARCH_ROUNDS } from '../limits.ts';
import { removedExit } from '../task-exit.ts';
import type { TaskExit } from '../task-runtime.ts';
import { BUNDLE_FILES, isBundleFile, type TaskFiles, type TaskRecord } from './task-files.ts';
import { findMonitor, findTaskProcess, isMonitor, readExit } from './task-state.ts';

/** `throwAway` removes tasks' directories, which are under the state directory of `files`. */
export type TaskDeleteDependencies = { files: TaskFiles; cgroups: CgroupHierarchy; throwAway: ThrowAway };

/**
 * Kills a task and removes everything that belongs to it, whatever state it was left in by a crash. The record is removed last, so that an
 * interrupted deletion can be found and repeated. Returns the task's exit.
 */
export async function deleteTask(
  { files, cgroups, throwAway }: TaskDeleteDependencies,
  record: TaskRecord,
): Promise<TaskExit> {
  const known = readExit({ files, cgroups }, record);
  if (known === undefined && findTaskProcess(record) === undefined) await killUnfinishedCreate(record);
  if (known === undefined) await killCgroup(cgroups, record.cgroupsPath);
  const [exit] = await Promise.all([
    endMonitor(record).then(() => known ?? readExit({ files, cgroups }, record) ?? removedExit()),
    forgetTask(files.runtime(record.program), { ...record, throwAway }),
    known && endCgroup(cgroups, record.cgroupsPath),
  ]);
  // the cgroup contains the OOM counter, so it must not be removed before the exit is known
  if (known === undefined) await endCgroup(cgroups, record.cgroupsPath);
  if (record.bundle === files.bundle(record.id)) throwAway(record.bundle);
  else await cleanBundle(record);
  files.remove(record.id);
  return exit;
}

/**
 * Kills monitors that are still waiting for the OCI runtime's `create`, along with the OCI runtime. They are found by process tree, because
 * they are not in any of the task's cgroups, and killed repeatedly, because they fork and leave their parents. If a killed OCI runtime was
 * about to start another process, that process fails because its configuration has been removed.
 */
async function killUnfinishedCreate(record: TaskRecord): Promise<void> {
  rmSync(join(record.bundle, BUNDLE_FILES.config), { force: true });
  for (let round = 0; round < SEARCH_ROUNDS; round++) {
    const found = await searchMonitors(record);
    if (found.length === 0) return;
    await killProcessTrees(found);
  }
}

/** Finds this task's monitors by their command lines, because a crash can occur before conmon has written its PID file. */
async function searchMonitors(record: TaskRecord): Promise<number[]> {
  return (await findByCommandLine(record.bundle, (argv) => isMonitor(argv, record))).filter(isRunning);
}

/** Removes a task's cgroup. If the cgroup is not empty, which is unusual, kills its processes and retries. */
async function endCgroup(cgroups: CgroupHierarchy, path: string): Promise<void> {
  await endScope(cgroups, path);
  for (let attempt = 1; ; attempt++) {
    try {
      return await removeCgroup(cgroups, path, attempt === 1 ? 0 : CGROUP_END_MS);
    } catch (error) {
      if (errorCode(error) !== 'failed_precondition' || attempt === CGROUP_END_ATTEMPTS) throw error;
    }
    await killCgroup(cgroups, path);
  }
}

/** Waits for the task's monitor, which writes the exit file and exits after the task. Kills the monitor if it hangs. */
async function endMonitor(record: TaskRecord): Promise<void> {
  const pid = await findMonitor(record);
  if (pid === undefined) return;
  const deadline = performance.now() + MONITOR_END_MS;
  for (let delayMs = 1; performance.now() < deadline; delayMs = Math.min(delayMs * 2, 20)) {
    if (!isRunning(pid)) return;
    await sleep(delayMs);
  }
  signalProcess(pid, constants.signals.SIGKILL);
}

/**
 * Removes the files of a task created by an earlier version of Podwright, which used the caller's bundle. Removes Podwright's own files
 * from the bundle, then the bundle itself if it is empty. Done repeatedly, because a late monitor might recreate some of the files.
 */
async function cleanBundle({ bundle, ...record }: TaskRecord): Promise<void> {
  for (let round = 0; round < SEARCH_ROUNDS; round++) {
    try {
      const names = readdirSync(bundle);
      const own = names.filter(isBundleFile);
      for (const name of own) rmSync(join(bundle, name), { recursive: true, force: true });
      if (own.length === names.length) rmdirSync(bundle);
      return;
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return;
      if (!isErrno(error, 'ENOTEMPTY')) throw error;
    }
    await killUnfinishedCreate({ bundle, ...record });
  }
  throw new PodwrightError('failed_precondition', `remove bundle ${bundle}: files keep appearing in it`);
}
