import { closeSync, constants, openSync, readSync } from 'node:fs';
import { isErrno } from '@podwright/base';

/** The longest record of the kernel's log (LOG_LINE_MAX and its prefix, kernel/printk). */
const RECORD_BYTES = 8192;

/**
 * Whether the kernel's log (/dev/kmsg, Documentation/ABI/testing/dev-kmsg) says that memory ran out in the cgroup. It is asked for a
 * scope, which systemd removes with all its counters as soon as the last process has gone. False where there is no such log, and for
 * what is too long ago to be in it.
 */
export function wasOomLogged(cgroupPath: string): boolean {
  try {
    const log = openSync('/dev/kmsg', constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      return readRecords(log, (record) => isOomIn(record, cgroupPath));
    } finally {
      closeSync(log);
    }
  } catch (error) {
    if (['ENOENT', 'EACCES', 'EPERM', 'ENXIO'].some((code) => isErrno(error, code))) return false;
    throw error;
  }
}

/**
 * Whether this record is of the end of a process in the cgroup or below it (dump_oom_victim, mm/oom_kill.c). Those of the kernel
 * itself have facility 0: a number below 8 at their beginning, which no program can give its own.
 */
export function isOomIn(record: string, cgroupPath: string): boolean {
  const victim = /^[0-7],[^;\n]*;oom-kill:.*,task_memcg=([^,\n]+),/.exec(record)?.[1];
  return victim !== undefined && (victim === cgroupPath || victim.startsWith(`${cgroupPath}/`));
}

/** Each read returns a record; one that has been overwritten meanwhile is skipped (EPIPE). */
function readRecords(log: number, matches: (record: string) => boolean): boolean {
  const buffer = Buffer.alloc(RECORD_BYTES);
  for (;;) {
    try {
      if (matches(buffer.toString('latin1', 0, readSync(log, buffer)))) return true;
    } catch (error) {
      if (isErrno(error, 'EAGAIN')) return false;
      if (!isErrno(error, 'EPIPE')) throw error;
    }
  }
}
