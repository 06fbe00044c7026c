import { open, readdir } from 'node:fs/promises';
import { isErrno } from './errors.ts';
import { Limiter } from './keyed-lock.ts';

/**
 * As much is read of what a process has in its memory, in bytes: a program that we start is known by less, and one in a container
 * may have megabytes of arguments.
 */
const START_BYTES = 16 * 1024;
/** Processes that are looked at together. */
const AT_ONCE = 4;

/** The pids of all processes that /proc shows, in no order. */
export async function listProcesses(): Promise<number[]> {
  return (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
}

/** The processes for which `belongs` says so, which is asked of a few at a time; one that rejects has ended meanwhile. */
export async function findProcesses(belongs: (pid: number) => Promise<boolean>): Promise<number[]> {
  const pids = await listProcesses();
  const limiter = new Limiter(AT_ONCE);
  const found = await Promise.all(pids.map((pid) => limiter.run(() => belongs(pid)).catch(() => false)));
  return pids.filter((_, index) => found[index]);
}

/**
 * The first 16 KiB of the words that a process was started with, or of its environment, a NUL after each (proc_pid_cmdline(5),
 * proc_pid_environ(5)); nothing if it is gone. They are read from its memory, for which one may wait.
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

/** The words in what `readProcessStart` has read; one that was cut is left out. */
export function processWords(start: Buffer): string[] {
  return start.toString('utf8').split('\0').slice(0, -1);
}
