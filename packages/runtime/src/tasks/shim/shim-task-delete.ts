import { rm } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import { errorMessage, isNotFound, raceAbort, wrapError } from '@podwright/base';
import { cgroupPids, endScope, killCgroup, removeCgroup } from '@podwright/host';
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

/** A request to delete a task. `task` is set if the task's exit has not been recorded yet. */
export type ShimTaskDelete = {
  record: ShimTaskRecord;
  task: ShimTask | undefined;
  /** Whether this is the pod's last task. If so, a shim that serves only tasks must exit. */
  lastOfPod: boolean;
};

/**
 * Kills a task and removes everything that belongs to it, whatever state it was left in by a crash. The record is removed last, so that an
 * interrupted deletion can be found and repeated. Returns the task's exit.
 */
export async function deleteShimTask(dependencies: ShimTaskDependencies, request: ShimTaskDelete): Promise<TaskExit> {
  const { shims, files, system, cgroups, logger } = dependencies;
  const { record, task } = request;
  let exit: TaskExit | undefined;
  try {
    if (task !== undefined) exit = await endTask(dependencies, task);
    await deleteInShim(dependencies, request);
  } catch (error) {
    logger.warn({ task: record.id, error: errorMessage(error) }, 'a shim did not delete its task: killing it');
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
 * Kills the task's processes, waits for the task to exit and closes its streams. Processes in a cgroup on the host are killed directly,
 * because the shim would have to start a program for this.
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
        if (!isEnded(error)) logger.warn({ task: id, error: errorMessage(error) }, 'cannot kill a task');
      });
    return await raceAbort(task.ended, soon);
  } finally {
    task.close();
    await task.stdinEnded;
  }
}

/**
 * Deletes the task from the shim, and shuts down the shim if it must exit with this task. If the shim is dead, its binary cleans up
 * instead.
 */
async function deleteInShim(dependencies: ShimTaskDependencies, request: ShimTaskDelete): Promise<void> {
  const { shims } = dependencies;
  const { id, bundle } = request.record;
  const shim = await shims.load(bundle);
  if (shim === undefined) return await cleanUpDeadShim(dependencies, request);
  const known = await shim.tasks.delete({ id }, { timeoutMs: DELETE_TIMEOUT_MS }).then(
    () => true,
    (error) => {
      if (isNotFound(error)) return false;
      throw wrapError(`delete task ${id}`, error);
    },
  );
  if (!known) return await cleanUpUnknownTask(dependencies, request);
  if (endingShim(dependencies, request) !== undefined) await shutDown(shim, id);
}

/**
 * Cleans up if the shim does not have the task. The shim might still be about to create it if the container runtime was killed during the
 * create call.
 */
async function cleanUpUnknownTask(dependencies: ShimTaskDependencies, request: ShimTaskDelete): Promise<void> {
  await killShim(dependencies, request);
  await removeLostTask(dependencies, request.record);
}

/** Cleans up after a shim that has died, or that was still starting when the runtime was killed. */
async function cleanUpDeadShim(dependencies: ShimTaskDependencies, request: ShimTaskDelete): Promise<void> {
  await killShim(dependencies, request);
  if ((await dependencies.shims.endpoint(request.record.bundle)) !== undefined)
    await removeLostTask(dependencies, request.record);
}

/** Returns the ID of the shim that must exit with this task, if there is one. */
function endingShim({ shims }: ShimTaskDependencies, { record, lastOfPod }: ShimTaskDelete): string | undefined {
  return lastOfPod ? shimIdOf(shims, record) : undefined;
}

/** Shuts down the shim. Ignores the error if the shim exits without responding. */
async function shutDown(shim: Shim, id: string): Promise<void> {
  await shim.tasks.shutdown({ id }, { timeoutMs: SHUTDOWN_TIMEOUT_MS }).catch((error) => {
    if (shim.isOpen) throw error;
  });
  await raceAbort(shim.closed, AbortSignal.timeout(SHUTDOWN_TIMEOUT_MS));
}

async function killShim(dependencies: ShimTaskDependencies, request: ShimTaskDelete): Promise<void> {
  const shimId = endingShim(dependencies, request);
  if (shimId !== undefined) await killShimProcesses(dependencies.shims, shimId);
}
