import { closeSync, constants, openSync, statSync } from 'node:fs';
import { hasErrno } from './errno.ts';
import type { System } from './system.ts';

const O_CLOEXEC = 0o2000000;
/** Major number of the slaves of pseudo terminals. */
const PTY_SLAVE_MAJOR = 136n;

/**
 * Sets the size of the terminal that is a process's stdin, also one in another mount namespace; its foreground processes get
 * SIGWINCH. False if that is no pseudo terminal, or the process has ended.
 */
export function setProcessTerminalSize(system: System, pid: number, size: { columns: number; rows: number }): boolean {
  const link = `/proc/${pid}/fd/0`;
  try {
    // Looked at before it is opened: opening some other device may do something.
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
    // EIO is how a terminal says that its other side is closed.
    if (['ENOENT', 'ESRCH', 'EIO'].some((name) => hasErrno(error, name))) return false;
    throw error;
  }
}
