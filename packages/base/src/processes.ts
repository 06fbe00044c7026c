import { open, readdir } from 'node:fs/promises';
import { isErrno } from './errors.ts';
import { Limiter } from './keyed-lock.ts';

/**
 * How much of a process's arguments or environment is read, in bytes: a program that we start is known by less, and one in a
 * container may have megabytes of arguments.
 */
const START_BYTES = 16 * 1024;
/** Processes that are looked at concurrently. */
const MAX_CONCURRENT_LOOKS = 4;

/** The pids of all processes that /proc shows, in no order. */
export async function listProcesses(): Promise<number[]> {
  return (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
}

/** The processes for which `belongs` resolves to true; it is called for four at a time, and one that rejects has ended meanwhile. */
export async function findProcesses(belongs: (pid: number) => Promise<boolean>): Promise<number[]> {
  const pids = await listProcesses();
  const limiter = new Limiter(MAX_CONCURRENT_LOOKS);
  const found = await Promise.all(pids.map((pid) => limiter.run(() => belongs(pid)).catch(() => false)));
  return pids.filter((_, index) => found[index]);
}

/**
 * The first 16 KiB of a process's argv or environment, a NUL after each string (proc_pid_cmdline(5), proc_pid_environ(5));
 * nothing if it is gone. The kernel reads them from the memory of the process, which may block.
 */
export async function readProcessStart(pid: number, name: 'cmdline' | 'environ'): Promise<Buffer> {
  const start = Buffer.allocUnsafe(START_BYTES);
  try {
    await using file = await open(`/proc/${pid}/${name}`);
    const { bytesRead } = await file.read(start, 0, START_BYTES, 0);
    return start.subarray(0, bytesRead);
  } catch (error) {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ESRCH')) return start.subarray(0, 0);
    throw error;
  }
}

/** The arguments or variables in what `readProcessStart` has read; one that was cut is left out. */
export function parseProcessStart(start: Buffer): string[] {
  return start.toString('utf8').split('\0').slice(0, -1);
}
