import { rm } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import {
  cgroupPids,
  endScope,
  errorMessage,
  isNotFound,
  killCgroup,
  raceAbort,
  removeCgroup,
  wrapError,
} from '@podwright/base';
import type { Shim } from '@podwright/shim';
import { unmountTree } from '@podwright/system';
import { removedExit } from '../task-exit.ts';
import type { TaskExit } from '../task-runtime.ts';
import { endHolders } from './fifo.ts';
import { DELETE_TIMEOUT_MS, KILL_TIMEOUT_MS, SHUTDOWN_TIMEOUT_MS } from './limits.ts';
import { isEnded } from './shim-error.ts';
import { killShimProcesses, removePodBundle, shimIdOf } from './shim-group.ts';
import { removeLostTask, type ShimTask, type ShimTaskDependencies } from './shim-task.ts';
import type { ShimTaskRecord } from './shim-task-files.ts';

/** A task to be deleted; `task` only while its end is not written down. */
export type ShimTaskDelete = {
  record: ShimTaskRecord;
  task: ShimTask | undefined;
  /** The pod has no other task: a shim that serves tasks alone is to end. */
  lastOfPod: boolean;
};

/**
 * Ends and removes everything of a task, whatever state a crash left it in. The record goes last: until then the task is
 * found again and deleted anew. Returns how it ended.
 */
export async function deleteShimTask(dependencies: ShimTaskDependencies, request: ShimTaskDelete): Promise<TaskExit> {
  const { shims, files, system, cgroups, logger } = dependencies;
  const { record, task } = request;
  let exit: TaskExit | undefined;
  try {
    if (task !== undefined) exit = await endTask(dependencies, task);
    await dismiss(dependencies, request);
  } catch (error) {
    logger.warn({ task: record.id, error: errorMessage(error) }, 'kill a shim that does not delete its task');
    await killShim(dependencies, request);
    await removeLostTask(dependencies, record);
  }
  await killCgroup(cgroups, record.cgroupsPath);
  await endScope(cgroups, record.cgroupsPath);
  await removeCgroup(cgroups, record.cgroupsPath);
  await endHolders(join(record.bundle, 'io'));
  const shimId = endingShim(dependencies, request);
  if (shimId !== undefined) await shims.removeSocket(shims.bundle(shimId));
  shims.forget(record.bundle);
  unmountTree(system, record.bundle);
  await rm(record.bundle, { recursive: true, force: true });
  if (shimId !== undefined && shimId !== record.id) await removePodBundle(shims, shimId);
  await files.remove(record.id);
  return exit ?? record.exit ?? removedExit();
}

/**
 * Kills what runs, waits for its end, and lets go of the task. What the host has in a cgroup dies without the shim, which
 * runs a program for it.
 */
async function endTask({ cgroups, logger }: ShimTaskDependencies, task: ShimTask): Promise<TaskExit> {
  const { id, cgroupsPath, exit } = task.record;
  const soon = AbortSignal.timeout(KILL_TIMEOUT_MS);
  const kill = async () => await task.shim.tasks.kill({ id, signal: constants.signals.SIGKILL, all: true });
  try {
    if (exit !== undefined) return exit;
    if ((await cgroupPids(cgroups, cgroupsPath, { recursive: true })).length > 0)
      await killCgroup(cgroups, cgroupsPath);
    else
      await kill().catch((error) => {
        if (!isEnded(error)) logger.warn({ task: id, error: errorMessage(error) }, 'kill a task');
      });
    return await raceAbort(task.ended, soon);
  } finally {
    task.close();
    await task.stdinEnded;
  }
}

/** Has the shim forget the task, and end if it was its last one. Without a shim, its binary removes what it left. */
async function dismiss(dependencies: ShimTaskDependencies, request: ShimTaskDelete): Promise<void> {
  const { shims } = dependencies;
  const { id, bundle } = request.record;
  const shim = await shims.load(bundle);
  if (shim === undefined) return await dismissDead(dependencies, request);
  const known = await shim.tasks.delete({ id }, { timeoutMs: DELETE_TIMEOUT_MS }).then(
    () => true,
    (error) => {
      if (isNotFound(error)) return false;
      throw wrapError(`delete task ${id}`, error);
    },
  );
  if (!known) return await dismissUnknown(dependencies, request);
  if (endingShim(dependencies, request) !== undefined) await shutDown(shim, id);
}

/** A shim that does not know the task may yet create it, if an earlier process of ours was killed during that call. */
async function dismissUnknown(dependencies: ShimTaskDependencies, request: ShimTaskDelete): Promise<void> {
  await killShim(dependencies, request);
  await removeLostTask(dependencies, request.record);
}

/** What a shim left that is dead, or that was just starting when we were killed. */
async function dismissDead(dependencies: ShimTaskDependencies, request: ShimTaskDelete): Promise<void> {
  await killShim(dependencies, request);
  if ((await dependencies.shims.endpoint(request.record.bundle)) !== undefined)
    await removeLostTask(dependencies, request.record);
}

/** The id of the shim that is to end with this task. */
function endingShim({ shims }: ShimTaskDependencies, { record, lastOfPod }: ShimTaskDelete): string | undefined {
  return lastOfPod ? shimIdOf(shims, record) : undefined;
}

/** The answer may be lost with the shim. */
async function shutDown(shim: Shim, id: string): Promise<void> {
  await shim.tasks.shutdown({ id }, { timeoutMs: SHUTDOWN_TIMEOUT_MS }).catch((error) => {
    if (shim.isOpen) throw error;
  });
  await raceAbort(shim.closed, AbortSignal.timeout(SHUTDOWN_TIMEOUT_MS));
}

/** Kills the shim that is to end with this task, if there is one after all. */
async function killShim(dependencies: ShimTaskDependencies, request: ShimTaskDelete): Promise<void> {
  const shimId = endingShim(dependencies, request);
  if (shimId !== undefined) await killShimProcesses(dependencies.shims, shimId);
}
