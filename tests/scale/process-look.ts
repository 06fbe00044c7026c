import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export type ProcessLook = { descriptors: string[]; threads: number };

/** Inspects a process through /proc; the targets of its file descriptors are sorted. */
export function lookAt(pid: number): ProcessLook {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return { descriptors: descriptors(pid), threads: Number(/^Threads:\s+(\d+)/m.exec(status)![1]) };
}

/** Returns the targets of file descriptors. For sockets and pipes, only the type is included, because their numbers vary. */
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
