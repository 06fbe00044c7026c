import type { Dirent } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findByCommandLine, isInCgroup, killProcessTrees, readProcess } from '@podwright/system';
import { bundleFiles, type TaskFiles } from './task-files.ts';

/**
 * Ends and removes what an earlier life of the runtime was in the midst of when it died: commands that it ran in tasks,
 * whose callers are gone, and files half written. Tasks stay.
 */
export async function removeInterruptedWork(files: TaskFiles): Promise<void> {
  for (const directory of [files.records, files.exits])
    for (const name of await readdir(directory))
      if (name.endsWith('.tmp')) await rm(join(directory, name), { force: true });
  await killProcessTrees(await runningExecs(files));
  for (const entry of await readdir(files.execs, { withFileTypes: true })) {
    await endExec(files, entry);
    await rm(join(files.execs, entry.name), { force: true, recursive: true });
  }
}

/** OCI runtimes that run a command: they name a pid file of ours, which need not be there yet. */
async function runningExecs(files: TaskFiles): Promise<number[]> {
  const folder = `${files.execs}/`;
  return await findByCommandLine(folder, (words) => words.some((word) => word.startsWith(folder)));
}

/** Kills the process of an exec's pid file, if it still is one of the task's. */
async function endExec(files: TaskFiles, entry: Dirent): Promise<void> {
  const record = files.read(files.taskOfExec(entry.name));
  // An exec on a terminal has a folder.
  const path = join(files.execs, entry.name, entry.isDirectory() ? bundleFiles.pid : '');
  const pid = Number(await readFile(path, 'utf8').catch(() => ''));
  if (record === undefined || !(pid > 0) || !isInCgroup(pid, record.cgroupsPath)) return;
  const session = readProcess(pid)?.session;
  await killProcessTrees(session === undefined ? [pid] : [pid, session]);
}
