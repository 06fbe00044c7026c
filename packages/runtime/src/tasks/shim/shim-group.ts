import { existsSync } from 'node:fs';
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PodwrightError, PRIVATE_DIRECTORY } from '@podwright/base';
import type { Shim, Shims } from '@podwright/shim';
import { findByCommandLine, killProcessTrees } from '@podwright/system';
import type { TaskConfig } from '../task-runtime.ts';
import { KILL_ROUNDS } from './limits.ts';
import type { ShimTaskRecord } from './shim-task-files.ts';

/** Annotation with the ID of the sandbox whose containers share a shim. Also read by containerd's shims. */
const GROUP_ANNOTATION = 'io.kubernetes.cri.sandbox-id';

/** Marker file in the bundle of a pod whose shim was started only for the pod's tasks. */
const OWN_MARK = 'for-tasks';

/** Returns the ID of the sandbox whose shim runs the task; '' if the shim is not shared. */
export function groupOf({ spec }: Pick<TaskConfig, 'spec'>): string {
  return spec.annotations?.[GROUP_ANNOTATION] ?? '';
}

/**
 * Finds or starts a task's shim. A pod's containers share a shim: the one that created the pod's sandbox, or the one that runs its infra
 * process (a task with the pod's ID). If there is neither, starts a shim in a bundle that belongs to the pod, not in the container's,
 * because the container might be removed before the pod's other containers.
 */
export async function findShim(shims: Shims, record: ShimTaskRecord, signal: AbortSignal): Promise<Shim> {
  const { id, bundle, program, group } = record;
  if (group === '' || group === id) return await shims.start({ id, bundle, program }, signal);
  const pod = shims.bundle(group);
  const found = await shims.load(pod, signal);
  if (found !== undefined) return await shims.join(bundle, found.endpoint, signal);
  if (existsSync(pod) && !isForTasks(shims, group))
    throw new PodwrightError(
      'unavailable',
      `create task ${id}: the shim of sandbox ${group} has exited; create a new pod`,
    );
  await mkdir(pod, { recursive: true, mode: PRIVATE_DIRECTORY });
  await writeFile(join(pod, OWN_MARK), '');
  await copyFile(join(bundle, 'config.json'), join(pod, 'config.json'));
  const started = await shims.start({ id: group, bundle: pod, program }, signal);
  return await shims.join(bundle, started.endpoint, signal);
}

/**
 * Returns the ID used to start a shim that serves only tasks: the ID of the task or of its pod. Returns `undefined` if the shim belongs to
 * a sandbox; it is then stopped along with the sandbox.
 */
export function shimIdOf(shims: Shims, { id, group }: Pick<ShimTaskRecord, 'id' | 'group'>): string | undefined {
  if (group === '' || group === id) return id;
  const isOfSandbox = existsSync(shims.bundle(group)) && !isForTasks(shims, group);
  return isOfSandbox ? undefined : group;
}

/**
 * Returns the PIDs of the shims started with this ID, including a shim without a record because the runtime was killed while starting it.
 */
export async function findShimProcesses(shims: Shims, id: string): Promise<number[]> {
  const { events } = shims.home;
  return await findByCommandLine(events, (argv) => argv.includes(events) && argv[argv.indexOf('-id') + 1] === id);
}

/** Kills the shims started with this ID, and any shim binaries that are still starting one. */
export async function killShimProcesses(shims: Shims, id: string): Promise<void> {
  for (let round = 0; round < KILL_ROUNDS; round++) {
    const pids = await findShimProcesses(shims, id);
    if (pids.length === 0) return;
    await killProcessTrees(pids);
  }
  throw new PodwrightError('internal', `kill the shim of ${id}: it keeps being restarted`);
}

/** Removes the bundle of a pod whose shim has exited with its last task. */
export async function removePodBundle(shims: Shims, group: string): Promise<void> {
  shims.forget(shims.bundle(group));
  await rm(shims.bundle(group), { recursive: true, force: true });
}

const isForTasks = (shims: Shims, group: string) => existsSync(join(shims.bundle(group), OWN_MARK));
