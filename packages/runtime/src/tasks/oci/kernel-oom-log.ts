import { closeSync, constants, openSync, readSync } from 'node:fs';
import { isErrno } from '@podwright/base';

/** Maximum length of a record in the kernel log (LOG_LINE_MAX plus its prefix, kernel/printk). */
const RECORD_BYTES = 8192;

/**
 * Whether the kernel log (/dev/kmsg, Documentation/ABI/testing/dev-kmsg) contains an OOM kill in the cgroup. Needed for scopes: systemd
 * removes a scope, and with it the OOM counter, as soon as the last process has exited. Returns false if there is no kernel log or the
 * record has already been overwritten.
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
 * Whether a log record reports an OOM kill in the cgroup or one of its descendants (dump_oom_victim, mm/oom_kill.c). The kernel's own
 * records have a prefix below 8, that is, facility 0, which programs cannot use.
 */
export function isOomIn(record: string, cgroupPath: string): boolean {
  const victim = /^[0-7],[^;\n]*;oom-kill:.*,task_memcg=([^,\n]+),/.exec(record)?.[1];
  return victim !== undefined && (victim === cgroupPath || victim.startsWith(`${cgroupPath}/`));
}

/**
 * Whether any record in the kernel log matches. Reads one record at a time, because each read(2) returns one record; skips records that
 * were overwritten before they were read (EPIPE).
 */
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
