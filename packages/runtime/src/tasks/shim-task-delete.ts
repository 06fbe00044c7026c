import { rm } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import { cgroupPids, errorMessage, isNotFound, killCgroup, raceAbort, removeCgroup } from '@podwright/base';
import type { Shim } from '../shim/shim.ts';
import { unmountTree } from '../sys/mountinfo.ts';
import { endHolders } from './fifo.ts';
import { killProcessTrees, listProcesses, readProcFile } from './processes.ts';
import { removeLostTask, type ShimTask, type ShimTaskDependencies } from './shim-task.ts';
import type { ShimTaskRecord } from './shim-task-files.ts';
import { askShim } from './shim-words.ts';
import type { TaskExit } from './task-runtime.ts';

/** How long a killed task may take to end. */
const endTimeoutMs = 10_000;
/** How long a shim without tasks may take to end. */
const shutdownTimeoutMs = 5_000;

/** A task to be deleted; `task` only while its end is not written down. */
export type ShimTaskDelete = {
  record: ShimTaskRecord;
  task: ShimTask | undefined;
  /** The shim has no other task, and no sandbox: it is to end. */
  lastOfShim: boolean;
};

/**
 * Ends and removes everything of a task, whatever state a crash left it in. The record goes last: until then the task is
 * found again and deleted anew. Returns how it ended.
 */
export async function deleteShimTask(dependencies: ShimTaskDependencies, request: ShimTaskDelete): Promise<TaskExit> {
  const { shims, files, system, cgroups, logger } = dependencies;
  const { record, task } = request;
  const exit = task === undefined ? undefined : await endTask(dependencies, task).catch(() => undefined);
  task?.close();
  try {
    await dismiss(dependencies, request);
  } catch (error) {
    logger.warn({ task: record.id, error: errorMessage(error) }, 'end a shim that does not do as it is told');
    await killShim(dependencies, record);
    await removeLostTask(dependencies, record);
  }
  await killCgroup(cgroups, record.cgroupsPath);
  await removeCgroup(cgroups, record.cgroupsPath);
  await endHolders(join(record.bundle, 'io'));
  shims.forget(record.bundle);
  unmountTree(system, record.bundle);
  await rm(record.bundle, { recursive: true, force: true });
  await files.remove(record.id);
  return exit ?? record.exit ?? removedExit();
}

/** How a task ended that had no time to tell. */
function removedExit(): TaskExit {
  return { exitCode: 137, exitedAtMs: Date.now(), oomKilled: false, message: 'the container was killed and removed' };
}

/** Kills what runs, and waits for its end. What the host has in a cgroup dies without the shim, which runs a program for it. */
async function endTask({ cgroups }: ShimTaskDependencies, task: ShimTask): Promise<TaskExit> {
  const { id, cgroupsPath, exit } = task.record;
  if (exit !== undefined) return exit;
  const soon = AbortSignal.timeout(endTimeoutMs);
  const kill = async () => await task.shim.tasks.kill({ id, signal: constants.signals.SIGKILL, all: true });
  if ((await cgroupPids(cgroups, cgroupsPath, { recursive: true })).length > 0) await killCgroup(cgroups, cgroupsPath);
  else await kill().catch(() => undefined); // it has just ended
  return await raceAbort(task.ended, soon);
}

/** Has the shim forget the task, and end if it was its last one. Without a shim, its binary removes what it left. */
async function dismiss(dependencies: ShimTaskDependencies, { record, lastOfShim }: ShimTaskDelete): Promise<void> {
  const { shims } = dependencies;
  if ((await shims.endpoint(record.bundle)) === undefined) return await killShim(dependencies, record);
  const shim = await shims.load(record.bundle);
  if (shim === undefined) return await removeLostTask(dependencies, record);
  const { id } = record;
  await askShim(`delete task ${id}`, shim.tasks.delete({ id })).catch((error) => {
    if (!isNotFound(error)) throw error;
  });
  if (lastOfShim) await shutDown(shim, id);
}

/** The answer may be lost with the shim. */
async function shutDown(shim: Shim, id: string): Promise<void> {
  await shim.tasks.shutdown({ id }).catch((error) => {
    if (shim.isOpen) throw error;
  });
  await raceAbort(shim.closed, AbortSignal.timeout(shutdownTimeoutMs));
}

/** Kills the shim of a task that does not answer, or that was started when we were killed. */
async function killShim({ shims }: ShimTaskDependencies, { id, shimPid }: ShimTaskRecord): Promise<void> {
  const isOurs = async (pid: number) => {
    const words = (await readProcFile(pid, 'cmdline'))?.split('\0') ?? [];
    return words.includes(shims.home.events) && (pid === shimPid || words[words.indexOf('-id') + 1] === id);
  };
  for (const pid of await listProcesses()) if (await isOurs(pid)) await killProcessTrees([pid]);
}
