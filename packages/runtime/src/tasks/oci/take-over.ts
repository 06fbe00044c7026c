import type { Dirent } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage, Limiter, type Logger } from '@podwright/base';
import { findByCommandLine, isInCgroup, killProcessTrees, readProcess } from '@podwright/system';
import { BUNDLE_FILES, type TaskFiles } from './task-files.ts';
import { endUnmonitoredTask, readTaskState, type TaskStateDependencies } from './task-state.ts';

/**
 * Cleans up after a restart of the container runtime. Kills commands that were left running in tasks, because their callers are gone, and
 * removes partially written files. Tasks keep running unless their monitor has died, in which case they are killed. Failures for individual
 * tasks are logged and do not block the others.
 */
export async function takeOverTasks(dependencies: TaskStateDependencies, logger: Logger): Promise<void> {
  const { files } = dependencies;
  await removeInterruptedWork(files, logger);
  const limiter = new Limiter(AT_ONCE);
  const takeOver = async (id: string) => {
    const record = files.read(id);
    if (record === undefined || (await readTaskState(dependencies, record)).status !== 'unmonitored') return;
    logger.warn({ task: id }, 'the monitor of a task died while the runtime was down');
    await endUnmonitoredTask(dependencies, record);
  };
  await Promise.all(
    (await files.list()).map((id) =>
      limiter.run(() => logFailure(takeOver(id), { logger, task: id, what: 'cannot take over a task' })),
    ),
  );
}

/** Number of tasks that are checked concurrently when the container runtime starts. */
const AT_ONCE = 4;

async function logFailure(
  work: Promise<void>,
  { logger, task, what }: { logger: Logger; task: string; what: string },
): Promise<void> {
  await work.catch((error) => logger.error({ task, error: errorMessage(error) }, what));
}

async function removeInterruptedWork(files: TaskFiles, logger: Logger): Promise<void> {
  for (const directory of [files.records, files.exits])
    for (const name of await readdir(directory))
      if (name.endsWith('.tmp')) await rm(join(directory, name), { force: true });
  await killProcessTrees(await runningExecs(files));
  for (const entry of await readdir(files.execs, { withFileTypes: true })) {
    const task = files.taskOfExec(entry.name);
    await logFailure(endExec(files, entry), {
      logger,
      task,
      what: 'cannot end a command of an earlier runtime process',
    });
    await rm(join(files.execs, entry.name), { force: true, recursive: true });
  }
}

/**
 * Returns the PIDs of OCI runtimes that are running a command. They are recognized by an argument with the path of a PID file in the execs
 * directory; the file itself need not exist yet.
 */
async function runningExecs(files: TaskFiles): Promise<number[]> {
  const directory = `${files.execs}/`;
  return await findByCommandLine(directory, (argv) => argv.some((argument) => argument.startsWith(directory)));
}

/** Kills the process whose PID is in an exec's PID file, if it still belongs to the task. */
async function endExec(files: TaskFiles, entry: Dirent): Promise<void> {
  const record = files.read(files.taskOfExec(entry.name));
  // for an exec on a terminal, the directory entry is a directory that contains the PID file
  const path = join(files.execs, entry.name, entry.isDirectory() ? BUNDLE_FILES.pid : '');
  const pid = Number(await readFile(path, 'utf8').catch(() => ''));
  if (record === undefined || !(pid > 0) || !isInCgroup(pid, record.cgroupsPath)) return;
  const session = readProcess(pid)?.session;
  await killProcessTrees(session === undefined ? [pid] : [pid, session]);
}
