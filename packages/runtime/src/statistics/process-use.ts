import { readdir, readFile, readlink } from 'node:fs/promises';

/** Number of files and sockets that processes have open. `maxFiles` is the init process's soft limit; undefined if it is unlimited. */
export type ProcessUse = { files: number; sockets: number; maxFiles: number | undefined };

/** Maximum number of file descriptors per process to check for sockets; any others are only counted as files. */
const MAX_CHECKED = 4096;

/**
 * Counts processes' open files and sockets. `first` is the PID of the container's init process. A process that exits during the count
 * counts as 0.
 */
export async function readProcessUse(pids: number[], first: number): Promise<ProcessUse> {
  const use: ProcessUse = { files: 0, sockets: 0, maxFiles: parseMaxFiles(await readOf(first, 'limits')) };
  for (const pid of pids) {
    const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => []);
    use.files += descriptors.length;
    const targets = await Promise.all(
      descriptors.slice(0, MAX_CHECKED).map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')),
    );
    use.sockets += targets.filter((target) => target.startsWith('socket:')).length;
  }
  return use;
}

/** Parses the soft limit on open files in /proc/PID/limits (proc_pid_limits(5)); `undefined` means unlimited. */
export function parseMaxFiles(limits: string): number | undefined {
  const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  return soft === undefined ? undefined : Number(soft);
}

function readOf(pid: number, name: string): Promise<string> {
  return readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
}
