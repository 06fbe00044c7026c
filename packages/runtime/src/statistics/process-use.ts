import { readdir, readFile, readlink } from 'node:fs/promises';

/** Number of open files and sockets of processes. `maxFiles` is the soft limit of the init process; undefined if unlimited. */
export type ProcessUse = { files: number; sockets: number; maxFiles: number | undefined };

/** Maximum number of descriptors per process that are checked for sockets; further ones are counted as files only. */
const MAX_CHECKED = 4096;

/**
 * Counts the open files and sockets of processes. `first` is the container's init process. A process that exits in the meantime counts as
 * 0.
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

/** Parses the soft limit of open files in /proc/PID/limits (proc_pid_limits(5)); `undefined` means unlimited. */
export function parseMaxFiles(limits: string): number | undefined {
  const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  return soft === undefined ? undefined : Number(soft);
}

function readOf(pid: number, name: string): Promise<string> {
  return readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
}
