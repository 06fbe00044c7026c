import { readdirSync, readFileSync } from 'node:fs';

/** Returns the user plus system time of a process. Linux counts it in hundredths of a second (proc(5), `utime`). */
export function cpuTimeMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/**
 * Returns the CPU time of a process's threads in milliseconds. It has the scheduler's resolution, so it can be used for intervals of a few
 * milliseconds (/proc/PID/task/TID/schedstat). Threads that have exited are not counted.
 */
export function exactCpuTimeMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const spent = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0]);
  return spent.reduce((sum, nanoseconds) => sum + Number(nanoseconds) / 1e6, 0);
}

/** Returns the memory of a process in MiB, or zeros if the process has exited. */
export function memoryOf(pid: number): { rss: number; pss: number } {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  } catch {
    return { rss: 0, pss: 0 };
  }
  const value = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0) / 1024;
  return { rss: value('Rss'), pss: value('Pss') };
}

export function processIds(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Whether a process's command line contains `directory`, which means that it was started by a runtime with its state there. */
export function commandNames(pid: number, directory: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(directory);
  } catch {
    return false;
  }
}
