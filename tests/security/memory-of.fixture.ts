import { readFileSync, writeFileSync } from 'node:fs';

/** Resets the peak of a process's resident memory (proc_pid_clear_refs(5)); returns the current size in bytes. */
export function resetPeak(pid: number): number {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  return statusBytes(pid, 'VmRSS');
}

/** Returns the peak of a process's resident memory since `resetPeak`, in bytes. */
export const peakBytes = (pid: number): number => statusBytes(pid, 'VmHWM');

/** Returns a field from proc_pid_status(5), in bytes. */
function statusBytes(pid: number, field: string): number {
  const found = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(found![1]) * 1024;
}
