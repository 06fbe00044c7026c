import { closeSync, constants, openSync, statSync } from 'node:fs';
import { isErrno } from '@podwright/base';
import { syscallError } from './errno.ts';
import type { Libc } from './libc.ts';

const TIOCGPTN = 0x80045430;
const TIOCSPTLCK = 0x40045431;
const TIOCSWINSZ = 0x5414;
const TCGETS = 0x5401;
const TCSETS = 0x5402;
/** The kernel's struct termios: four flag words, the line discipline, 19 control characters. */
const termiosBytes = 36;
const O_CLOEXEC = 0o2000000;
const openFlags = constants.O_RDWR | constants.O_NOCTTY | O_CLOEXEC;

/** Both ends of a new pseudo terminal; the caller closes them. The master is non-blocking. */
export type Pty = { master: number; slave: number };

/** Opens a pseudo terminal whose line discipline passes everything on as it is, without echo (as cfmakeraw(3)). */
export function openRawPty(libc: Libc): Pty {
  const master = openSync('/dev/ptmx', openFlags | constants.O_NONBLOCK);
  try {
    const number = Buffer.alloc(4);
    control(libc, master, { name: 'TIOCSPTLCK', request: TIOCSPTLCK, argument: number });
    control(libc, master, { name: 'TIOCGPTN', request: TIOCGPTN, argument: number });
    const slave = openSync(`/dev/pts/${number.readUInt32LE()}`, openFlags);
    makeRaw(libc, slave);
    return { master, slave };
  } catch (error) {
    closeSync(master);
    throw error;
  }
}

/** Sets the size of a terminal; its foreground processes get SIGWINCH. */
export function setTerminalSize(libc: Libc, descriptor: number, size: { columns: number; rows: number }): void {
  const argument = Buffer.alloc(8);
  argument.writeUInt16LE(size.rows, 0);
  argument.writeUInt16LE(size.columns, 2);
  control(libc, descriptor, { name: 'TIOCSWINSZ', request: TIOCSWINSZ, argument });
}

/** Major number of the slaves of pseudo terminals. */
const ptySlaveMajor = 136n;

/**
 * Sets the size of the terminal that is a process's stdin, also one in another mount namespace. Nothing happens if that
 * is no pseudo terminal, or the process has ended.
 */
export function setProcessTerminalSize(libc: Libc, pid: number, size: { columns: number; rows: number }): void {
  const link = `/proc/${pid}/fd/0`;
  try {
    // Looked at before it is opened: opening some other device may do something.
    const stats = statSync(link, { bigint: true });
    if (!stats.isCharacterDevice() || ((stats.rdev >> 8n) & 0xfffn) !== ptySlaveMajor) return;
    const slave = openSync(link, openFlags | constants.O_NONBLOCK);
    try {
      setTerminalSize(libc, slave, size);
    } finally {
      closeSync(slave);
    }
  } catch (error) {
    if (!isErrno(error, 'ENOENT') && !isErrno(error, 'ESRCH') && !isErrno(error, 'EIO')) throw error;
  }
}

function makeRaw(libc: Libc, descriptor: number): void {
  const termios = Buffer.alloc(termiosBytes);
  control(libc, descriptor, { name: 'TCGETS', request: TCGETS, argument: termios });
  const clear = (offset: number, bits: number) =>
    termios.writeUInt32LE((termios.readUInt32LE(offset) & ~bits) >>> 0, offset);
  // IGNBRK BRKINT PARMRK ISTRIP INLCR IGNCR ICRNL IXON
  clear(0, 0o1 | 0o2 | 0o10 | 0o40 | 0o100 | 0o200 | 0o400 | 0o2000);
  clear(4, 0o1); // OPOST
  clear(12, 0o10 | 0o100 | 0o2 | 0o1 | 0o100000); // ECHO ECHONL ICANON ISIG IEXTEN
  control(libc, descriptor, { name: 'TCSETS', request: TCSETS, argument: termios });
}

function control(libc: Libc, descriptor: number, call: { name: string; request: number; argument: Buffer }): void {
  if (libc.ioctl(descriptor, call.request, call.argument) < 0) throw syscallError('ioctl', call.name, libc.errno());
}
