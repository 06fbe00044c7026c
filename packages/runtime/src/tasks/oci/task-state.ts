import { existsSync, readFileSync, statSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, isErrno } from '@podwright/base';
import { type CgroupHierarchy, killCgroup, readOomKills, scopeOf, writeFileAtomic } from '@podwright/host';
import { isInCgroup, isRunning, readCommandLine } from '@podwright/system';
import { waitsForStart } from '../../oci-runtime/oci-program.ts';
import { KILLED_EXIT_CODE, removedExit } from '../task-exit.ts';
import type { TaskExit, TaskState } from '../task-runtime.ts';
import { wasOomLogged } from './kernel-oom-log.ts';
import { BUNDLE_FILES, type TaskFiles, type TaskRecord } from './task-files.ts';

export type TaskStateDependencies = {
  files: TaskFiles;
  cgroups: CgroupHierarchy;
};

/** A task's state as observed on the host. `unmonitored`: the task's monitor died without reporting an exit. */
export type ObservedState = TaskState | { status: 'unmonitored' };

/** Read-only: returns a task's state as observed on the host, without using any in-memory state. */
export async function readTaskState(dependencies: TaskStateDependencies, record: TaskRecord): Promise<ObservedState> {
  const exit = readExit(dependencies, record);
  if (exit !== undefined) return { status: 'exited', exit };
  const pid = readTaskPid(record);
  if (pid === undefined) return { status: 'absent' };
  if ((await findMonitor(record)) === undefined) {
    // the monitor reports the task's exit before exiting itself, so check again
    const late = readExit(dependencies, record);
    return late === undefined ? { status: 'unmonitored' } : { status: 'exited', exit: late };
  }
  const waits = await waitsForStart(dependencies.files.runtime(record.program), record.id);
  return { status: waits ? 'created' : 'running', pid };
}

/**
 * Kills a task whose monitor has died: its stdio is broken and its exit would never be reported. Records its exit, and returns the new
 * state.
 */
export async function endUnmonitoredTask(dependencies: TaskStateDependencies, record: TaskRecord): Promise<TaskState> {
  const known = readExit(dependencies, record);
  if (known !== undefined) return { status: 'exited', exit: known };
  await killCgroup(dependencies.cgroups, record.cgroupsPath);
  const message = 'the monitor of the container died, so the container was killed; how it ended is unknown';
  try {
    await writeFileAtomic(dependencies.files.exit(record.id), `${KILLED_EXIT_CODE} ${message}`);
  } catch (error) {
    // the disk is full, which might also be why the monitor died; the next check finds the same state and tries again
    if (errorCode(error) !== 'resource_exhausted') throw error;
    return { status: 'exited', exit: { ...removedExit(), message } };
  }
  const exit = readExit(dependencies, record);
  return exit === undefined ? { status: 'absent' } : { status: 'exited', exit };
}

/** Returns the task's exit; `undefined` if it has not exited. */
export function readExit({ files, cgroups }: TaskStateDependencies, record: TaskRecord): TaskExit | undefined {
  const path = files.exit(record.id);
  try {
    const text = readFileSync(path, 'utf8');
    const { mtimeMs } = statSync(path);
    const [code, ...message] = text.trim().split(' ');
    const exitCode = Number(code);
    const exit = { exitCode, exitedAtMs: Math.floor(mtimeMs), oomKilled: false };
    if (message.length > 0) return { ...exit, message: message.join(' ') };
    return { ...exit, oomKilled: wasOomKilled(cgroups, record) };
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Returns the PID of the task's first process as recorded by the OCI runtime. That process might have exited since. */
export function readTaskPid(record: TaskRecord): number | undefined {
  return readPidFile(join(record.bundle, BUNDLE_FILES.pid));
}

/** Returns the PID of the task's first process if it still belongs to that process. PIDs are reused, but tasks' cgroups are not. */
export function findTaskProcess(record: TaskRecord): number | undefined {
  const pid = readTaskPid(record);
  return pid !== undefined && isRunning(pid) && isInCgroup(pid, record.cgroupsPath) ? pid : undefined;
}

/** Returns the recorded PID of the task's monitor, which might have exited since. */
export function readMonitorPid(record: TaskRecord): number | undefined {
  return readPidFile(join(record.bundle, BUNDLE_FILES.monitorPid));
}

/** Returns the PID of the task's monitor, if it still belongs to that process according to the command line. */
export async function findMonitor(record: TaskRecord): Promise<number | undefined> {
  const pid = readMonitorPid(record);
  return pid !== undefined && isMonitor(await readCommandLine(pid), record) ? pid : undefined;
}

/** Whether a process is a monitor of this task, according to its command line. */
export function isMonitor(argv: string[], record: TaskRecord): boolean {
  const bundle = argv.indexOf('--bundle');
  return bundle > 0 && argv[bundle + 1] === record.bundle && argv.includes(record.id);
}

/**
 * Whether the OOM killer killed any of the task's processes. The kernel's counter disappears along with the cgroup. conmon's `oom` file
 * also covers removed cgroups, but not scopes, which systemd might remove before conmon reads the counter.
 */
function wasOomKilled(cgroups: CgroupHierarchy, record: TaskRecord): boolean {
  if (readOomKills(cgroups, record.cgroupsPath) > 0) return true;
  if (existsSync(join(record.bundle, BUNDLE_FILES.oom))) return true;
  return scopeOf(record.cgroupsPath) !== undefined && wasOomLogged(record.cgroupsPath);
}

function readPidFile(path: string): number | undefined {
  try {
    const pid = Number(readFileSync(path, 'utf8').trim());
    return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/**
 * Whether the monitor's open log file is still the file at `logPath`. If so, it must not be reopened: conmon would replace it with an empty
 * file, losing its contents.
 */
export async function isLogInPlace(record: TaskRecord, logPath: string): Promise<boolean> {
  const there = await stat(logPath).catch(() => undefined);
  if (there === undefined) return false;
  const monitor = await findMonitor(record);
  const descriptors = await readdir(`/proc/${monitor}/fd`).catch(() => []);
  const open = await Promise.all(descriptors.map((name) => stat(`/proc/${monitor}/fd/${name}`).catch(() => undefined)));
  return open.some((file) => file?.ino === there.ino && file.dev === there.dev);
}
