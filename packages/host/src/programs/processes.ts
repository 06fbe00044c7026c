import { open, readdir, readlink } from 'node:fs/promises';
import { isErrno, Limiter } from '@podwright/base';

/**
 * Maximum number of bytes to read of a process's arguments or environment. This is enough to recognize programs that Podwright started; a
 * process in a container may have megabytes of arguments.
 */
const START_BYTES = 16 * 1024;
const MAX_CONCURRENT_LOOKS = 4;

/** Returns the PIDs of all processes in /proc, in no particular order. */
export async function listProcesses(): Promise<number[]> {
  return (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
}

/**
 * Returns the PIDs of all processes that `belongs` accepts. At most four calls to `belongs` run concurrently. If a call rejects, the
 * process is skipped, because it has probably exited.
 */
export async function findProcesses(belongs: (pid: number) => Promise<boolean>): Promise<number[]> {
  const pids = await listProcesses();
  const limiter = new Limiter(MAX_CONCURRENT_LOOKS);
  const found = await Promise.all(pids.map((pid) => limiter.run(() => belongs(pid)).catch(() => false)));
  return pids.filter((_, index) => found[index]);
}

/**
 * Whether a process is in the same PID namespace as this process, like programs of the host but unlike most containers. Check this before
 * reading its memory: a container can delay reads of its processes' memory for seconds by holding their address-space lock.
 */
export async function isInOwnPidNamespace(pid: number): Promise<boolean> {
  const [own, other] = await Promise.all(['self', pid].map((process) => readlink(`/proc/${process}/ns/pid`)));
  return own === other;
}

/**
 * Reads the first 16 KiB of a process's argv or environment, which consist of null-terminated strings (proc_pid_cmdline(5),
 * proc_pid_environ(5)). Empty if the process has exited. The kernel reads them from the process's memory, which may block.
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

/** Splits the result of `readProcessStart` into arguments or environment variables; the last one is dropped if it is truncated. */
export function parseProcessStart(start: Buffer): string[] {
  return start.toString('utf8').split('\0').slice(0, -1);
}
