import { readdir, readFile, readlink } from 'node:fs/promises';

/** What processes have open. `maxFiles` is what the first of them may open, absent for no limit. */
export type ProcessUse = { files: number; sockets: number; maxFiles: number | undefined };

/** Descriptors looked at for each process: more are counted, but not told apart. */
const MAX_LOOKED_AT = 4096;

/** Counts what the processes have open, the container's own first process being `first`. Processes that end meanwhile count nothing. */
export async function readProcessUse(pids: number[], first: number): Promise<ProcessUse> {
  const use: ProcessUse = { files: 0, sockets: 0, maxFiles: parseMaxFiles(await readOf(first, 'limits')) };
  for (const pid of pids) {
    const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => []);
    use.files += descriptors.length;
    const targets = await Promise.all(
      descriptors.slice(0, MAX_LOOKED_AT).map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')),
    );
    use.sockets += targets.filter((target) => target.startsWith('socket:')).length;
  }
  return use;
}

/** The soft limit of open files in /proc/PID/limits (proc_pid_limits(5)); `undefined` for none. */
export function parseMaxFiles(limits: string): number | undefined {
  const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  return soft === undefined ? undefined : Number(soft);
}

function readOf(pid: number, name: string): Promise<string> {
  return readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
}
