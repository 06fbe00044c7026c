import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** What a process holds now. */
export type ProcessLook = { descriptors: string[]; threads: number };

/** Looks at a process from outside: what its descriptors lead to, sorted. */
export function lookAt(pid: number): ProcessLook {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return { descriptors: descriptors(pid), threads: Number(/^Threads:\s+(\d+)/m.exec(status)![1]) };
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
