import type { Dirent } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage, Limiter, type Logger } from '@podwright/base';
import { findByCommandLine, isInCgroup, killProcessTrees, readProcess } from '@podwright/system';
import { BUNDLE_FILES, type TaskFiles } from './task-files.ts';
import { endUnmonitoredTask, readTaskState, type TaskStateDependencies } from './task-state.ts';

/**
 * Ends and removes what an earlier process of ours was in the midst of when it died: commands that it ran in tasks, whose
 * callers are gone, and files half written. Tasks stay, but for those whose monitors have died meanwhile: they are ended.
 * What fails for one task is logged, so that it does not hold up the others.
 */
export async function takeOverTasks(dependencies: TaskStateDependencies, logger: Logger): Promise<void> {
  const { files } = dependencies;
  await removeInterruptedWork(files, logger);
  const limiter = new Limiter(AT_ONCE);
  const takeOver = async (id: string) => {
    const record = files.read(id);
    if (record === undefined || (await readTaskState(dependencies, record)).status !== 'unmonitored') return;
    logger.warn({ task: id }, 'the monitor of a task died while there was no runtime');
    await endUnmonitoredTask(dependencies, record);
  };
  await Promise.all(
    (await files.list()).map((id) =>
      limiter.run(() => logFailure(takeOver(id), { logger, task: id, what: 'take over a task' })),
    ),
  );
}

/** Tasks that are looked at together. */
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
    await logFailure(endExec(files, entry), { logger, task, what: 'end a command of an earlier process of ours' });
    await rm(join(files.execs, entry.name), { force: true, recursive: true });
  }
}

/** OCI runtimes that run a command: they name a pid file of ours, which need not be there yet. */
async function runningExecs(files: TaskFiles): Promise<number[]> {
  const directory = `${files.execs}/`;
  return await findByCommandLine(directory, (argv) => argv.some((argument) => argument.startsWith(directory)));
}

/** Kills the process of an exec's pid file, if it still is one of the task's. */
async function endExec(files: TaskFiles, entry: Dirent): Promise<void> {
  const record = files.read(files.taskOfExec(entry.name));
  // An exec on a terminal has a directory.
  const path = join(files.execs, entry.name, entry.isDirectory() ? BUNDLE_FILES.pid : '');
  const pid = Number(await readFile(path, 'utf8').catch(() => ''));
  if (record === undefined || !(pid > 0) || !isInCgroup(pid, record.cgroupsPath)) return;
  const session = readProcess(pid)?.session;
  await killProcessTrees(session === undefined ? [pid] : [pid, session]);
}
