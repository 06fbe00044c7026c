import { readFileSync, writeFileSync } from 'node:fs';

/** Memory that a process has resident now, in bytes; its peak is counted anew from here on (proc_pid_clear_refs(5)). */
export function resetPeak(pid: number): number {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  return statusBytes(pid, 'VmRSS');
}

/** The most that a process has had resident since `resetPeak`, in bytes. */
export const peakBytes = (pid: number): number => statusBytes(pid, 'VmHWM');

/** A field of proc_pid_status(5), which has KiB. */
function statusBytes(pid: number, field: string): number {
  const found = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(found![1]) * 1024;
}
