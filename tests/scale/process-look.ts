import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** The descriptors and the number of threads of a process. */
export type ProcessLook = { descriptors: string[]; threads: number };

/** Inspects a process by /proc; the targets of its descriptors are sorted. */
export function lookAt(pid: number): ProcessLook {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return { descriptors: descriptors(pid), threads: Number(/^Threads:\s+(\d+)/m.exec(status)![1]) };
}

/** Targets of descriptors; of sockets and pipes only the kind, because their numbers vary. */
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
