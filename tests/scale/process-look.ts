import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** What a process holds now. */
export type ProcessLook = { descriptors: string[]; threads: number; rssBytes: number };

/** Looks at a process from outside: what its descriptors lead to, sorted. */
export function lookAt(pid: number): ProcessLook {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)![1]);
  return { descriptors: descriptors(pid), threads: field('Threads'), rssBytes: field('VmRSS') * 1024 };
}

/** User and system time that a process has used, in ms; Linux counts it in hundredths of a second (proc(5), `utime`). */
export function cpuTimeMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Numbers of sockets and pipes differ from one to the next, so only their kind counts. */
function descriptors(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`)
    .flatMap((fd) => target(`/proc/${pid}/fd/${fd}`))
    .map((path) => path.replace(/:\[\d+\]$/, ''))
    .sort();
}

function target(path: string): string[] {
  try {
    return [readlinkSync(path)];
  } catch {
    return []; // closed meanwhile
  }
}
