import { closeSync, constants, openSync, statSync } from 'node:fs';
import { hasErrno } from './errno.ts';
import type { System } from './system.ts';

const O_CLOEXEC = 0o2000000;
/** Device major number of pseudoterminal slaves. */
const PTY_SLAVE_MAJOR = 136n;

/**
 * Sets the size of the terminal on a process's stdin, even if the process is in another mount namespace. The terminal's foreground
 * processes get SIGWINCH. Returns false if stdin is not a pseudoterminal or the process has exited.
 */
export function setProcessTerminalSize(system: System, pid: number, size: { columns: number; rows: number }): boolean {
  const link = `/proc/${pid}/fd/0`;
  try {
    // Check before opening, because opening another kind of device may have side effects.
    const stats = statSync(link, { bigint: true });
    if (!stats.isCharacterDevice() || ((stats.rdev >> 8n) & 0xfffn) !== PTY_SLAVE_MAJOR) return false;
    const slave = openSync(link, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK | O_CLOEXEC);
    try {
      system.setTerminalSize(slave, size);
    } finally {
      closeSync(slave);
    }
    return true;
  } catch (error) {
    // EIO: the other side of the terminal is closed.
    if (['ENOENT', 'ESRCH', 'EIO'].some((name) => hasErrno(error, name))) return false;
    throw error;
  }
}
