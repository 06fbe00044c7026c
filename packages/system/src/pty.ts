import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { hasErrno } from './errno.ts';
import type { System } from './system.ts';

const O_CLOEXEC = 0o2000000;
const O_PATH = 0o10000000;
/** Device major number of pseudoterminal slaves. */
const PTY_SLAVE_MAJOR = 136n;

/**
 * Sets the size of the terminal on a process's stdin, even in a different mount namespace. The terminal's foreground processes receive
 * SIGWINCH. Returns false if stdin is not a pseudoterminal or the process has exited.
 */
export function setProcessTerminalSize(system: System, pid: number, size: { columns: number; rows: number }): boolean {
  const link = `/proc/${pid}/fd/0`;
  try {
    // Check the device through an O_PATH descriptor, which does not open it: opening a device other than a pseudoterminal might have side
    // effects, and the process might replace its stdin between a check by path and the open.
    const checked = openSync(link, O_PATH | O_CLOEXEC);
    try {
      if (!isPtySlave(checked)) return false;
      setTerminalSize(system, `/proc/self/fd/${checked}`, size);
    } finally {
      closeSync(checked);
    }
    return true;
  } catch (error) {
    // EIO: the other side of the terminal is closed.
    if (['ENOENT', 'ESRCH', 'EIO'].some((name) => hasErrno(error, name))) return false;
    throw error;
  }
}

function isPtySlave(descriptor: number): boolean {
  const stats = fstatSync(descriptor, { bigint: true });
  return stats.isCharacterDevice() && ((stats.rdev >> 8n) & 0xfffn) === PTY_SLAVE_MAJOR;
}

function setTerminalSize(system: System, path: string, size: { columns: number; rows: number }): void {
  const slave = openSync(path, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK | O_CLOEXEC);
  try {
    system.setTerminalSize(slave, size);
  } finally {
    closeSync(slave);
  }
}
