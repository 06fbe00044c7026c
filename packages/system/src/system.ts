import { constants } from 'node:os';
import { PodwrightError } from '@podwright/base';
import { syscallError } from './errno.ts';
import { type Libc, loadLibc } from './libc.ts';

/** A path as text or raw bytes, since file names need not be UTF-8. */
export type SystemPath = string | Buffer;

/** Arguments of mount(2) other than the target. */
export type MountCall = { source?: SystemPath; type?: string; flags: number; data?: string };

/** A character or block device and its device numbers. */
export type DeviceNode = { type: 'char' | 'block'; major: number; minor: number };

// File types in mknod(2)'s mode argument (linux/stat.h).
const S_IFCHR = 0o020000;
const S_IFBLK = 0o060000;
const S_IFIFO = 0o010000;
// Flags of umount2(2) (linux/fs.h).
const MNT_DETACH = 2;
const UMOUNT_NOFOLLOW = 8;
// Constants for flock(2) (asm-generic/fcntl.h) and lseek(2) (linux/fs.h).
const LOCK_EX = 2;
const LOCK_NB = 4;
const SEEK_DATA = 3;
const SEEK_HOLE = 4;
// Constants for socket(2) (linux/socket.h, asm-generic/fcntl.h), and netdevice(7) requests (linux/sockios.h, linux/if.h).
const AF_INET = 2;
const SOCK_DGRAM_CLOEXEC = 0o2000002;
const SIOCGIFFLAGS = 0x8913;
const SIOCSIFFLAGS = 0x8914;
const IFF_UP = 1;
/** Terminal ioctl requests (ioctl_tty(2), asm-generic/ioctls.h). */
const TIOCSWINSZ = 0x5414;
// Flags of open_tree(2), move_mount(2) and mount_setattr(2) (linux/mount.h, linux/fcntl.h).
const OPEN_TREE_CLONE = 1;
const OPEN_TREE_CLOEXEC = 0o2000000;
const AT_EMPTY_PATH = 0x1000;
const AT_RECURSIVE = 0x8000;
const MOUNT_ATTR_IDMAP = 0x100000;
/** struct statvfs of glibc and musl on 64-bit hosts (bits/statvfs.h): `f_flag` is the tenth 8-byte field. */
const STATVFS = { bytes: 112, flagsAt: 72 };
/** The statvfs(3) flags that restrict the use of a mount, as mount(8) options. */
const RESTRICTIONS: [flag: number, option: string][] = [
  [1, 'ro'],
  [2, 'nosuid'],
  [4, 'nodev'],
  [8, 'noexec'],
];
/** Kernel limits on the size of an attribute's value and of the list of attribute names (XATTR_SIZE_MAX, XATTR_LIST_MAX). */
const MAX_XATTR_BYTES = 65536;

/**
 * Linux system calls missing from node:fs. Each call blocks for microseconds and affects the calling thread, so use them only on the main
 * thread. Failures are thrown as `PodwrightError`s with the call, the path and the name of the errno (see `hasErrno`).
 */
export class System {
  readonly #libc: Libc;
  readonly #xattrBuffer = Buffer.allocUnsafeSlow(MAX_XATTR_BYTES);

  constructor(libc: Libc) {
    this.#libc = libc;
  }

  /** mount(2). An omitted `source`, `type` or `data` is passed as an empty string. */
  mount(target: SystemPath, options: MountCall): void {
    this.#check(this.#libc.mount(...mountArguments(target, options)), 'mount', target);
  }

  /** mount(2) on a libuv pool thread, for file systems that create files when mounted: this takes milliseconds on a busy disk. */
  async mountAsync(target: SystemPath, options: MountCall): Promise<void> {
    const result = await this.#libc.mountAsync(...mountArguments(target, options));
    if (result === -1) this.mount(target, options); // retry on this thread to get the errno
  }

  /** umount2(2), without following symbolic links. With `detach`, even a busy mount is detached immediately (MNT_DETACH). */
  unmount(target: SystemPath, options: { detach?: boolean } = {}): void {
    const flags = UMOUNT_NOFOLLOW | (options.detach ? MNT_DETACH : 0);
    this.#check(this.#libc.umount2(cString(target), flags), 'umount2', target);
  }

  /** open_tree(2): returns a descriptor of a detached recursive copy of the mount at `path`. */
  cloneMount(path: SystemPath): number {
    const descriptor = this.#libc.openTree(cString(path), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
    this.#check(descriptor, 'open_tree', path);
    return descriptor;
  }

  /** Attaches a mount created by `cloneMount` at `target` (move_mount(2)). */
  attachMount(descriptor: number, target: SystemPath): void {
    this.#check(this.#libc.moveMount(descriptor, cString(target)), 'move_mount', target);
  }

  /**
   * Changes a mount created by `cloneMount` (mount_setattr(2)). `userNamespace` is the descriptor of a user namespace, and ID-maps the
   * mount with the mappings of that namespace. `propagation` is a mount(2) flag, applied recursively.
   */
  changeMount(descriptor: number, change: { userNamespace: number } | { propagation: number }): void {
    const attributes = Buffer.alloc(32); // struct mount_attr (linux/mount.h): u64 attr_set, attr_clr, propagation, userns_fd
    const recursive = 'propagation' in change ? AT_RECURSIVE : 0;
    if ('propagation' in change) attributes.writeBigUInt64LE(BigInt(change.propagation), 16);
    else {
      attributes.writeBigUInt64LE(BigInt(MOUNT_ATTR_IDMAP), 0);
      attributes.writeBigUInt64LE(BigInt(change.userNamespace), 24);
    }
    const result = this.#libc.mountSetattr(descriptor, AT_EMPTY_PATH | recursive, attributes);
    this.#check(result, 'mount_setattr', `descriptor ${descriptor}`);
  }

  /**
   * Returns which of `ro`, `nosuid`, `nodev` and `noexec` are set on the mount that contains `path`. Throws `internal` if statvfs(3) fails.
   */
  async mountRestrictions(path: SystemPath): Promise<string[]> {
    const result = Buffer.alloc(STATVFS.bytes);
    if ((await this.#libc.statvfs(cString(path), result)) !== 0)
      throw new PodwrightError('internal', `statvfs ${path}: failed, the flags of its mount are unknown`);
    const flags = result.readUInt32LE(STATVFS.flagsAt);
    return RESTRICTIONS.filter(([flag]) => (flags & flag) !== 0).map(([, option]) => option);
  }

  /** Creates a device node. `mode`: the permission bits, subject to the umask. */
  makeDevice(path: SystemPath, device: DeviceNode, mode: number): void {
    const type = device.type === 'char' ? S_IFCHR : S_IFBLK;
    const number = encodeDevice(device, path);
    this.#check(this.#libc.mknod(cString(path), type | (mode & 0o7777), number), 'mknod', path);
  }

  /** Creates a named pipe. */
  makeFifo(path: SystemPath, mode: number): void {
    this.#check(this.#libc.mknod(cString(path), S_IFIFO | (mode & 0o7777), 0), 'mkfifo', path);
  }

  /** Sets an extended attribute of a file. Does not follow symbolic links. */
  setXattr(path: SystemPath, name: string, value: Buffer): void {
    this.#check(this.#libc.lsetxattr(cString(path), cString(name), value, value.length, 0), 'lsetxattr', path);
  }

  /** Returns the value of an extended attribute; `undefined` if it is not set. */
  getXattr(path: SystemPath, name: string): Buffer | undefined {
    const buffer = this.#xattrBuffer;
    const size = this.#libc.lgetxattr(cString(path), cString(name), buffer, buffer.length);
    if (size === -1 && this.#libc.errno() === constants.errno.ENODATA) return undefined;
    this.#check(size, 'lgetxattr', path);
    return Buffer.from(buffer.subarray(0, size));
  }

  /** Returns the names of a file's extended attributes. Does not follow symbolic links. */
  listXattrs(path: SystemPath): string[] {
    const buffer = this.#xattrBuffer;
    const size = this.#libc.llistxattr(cString(path), buffer, buffer.length);
    this.#check(size, 'llistxattr', path);
    return buffer.toString('utf8', 0, size).split('\0').slice(0, -1);
  }

  removeXattr(path: SystemPath, name: string): void {
    this.#check(this.#libc.lremovexattr(cString(path), cString(name)), 'lremovexattr', path);
  }

  /**
   * Acquires an exclusive lock on an open file (flock(2)). Returns false if another process holds the lock. Closing the file releases it.
   */
  tryLock(descriptor: number): boolean {
    const result = this.#libc.flock(descriptor, LOCK_EX | LOCK_NB);
    if (result === -1 && this.#libc.errno() === constants.errno.EAGAIN) return false;
    this.#check(result, 'flock', `descriptor ${descriptor}`);
    return true;
  }

  /** Returns the next data range (not a hole) of an open file at or after `offset`; `undefined` if there is none. */
  nextData(descriptor: number, offset: number): { start: number; end: number } | undefined {
    const start = Number(this.#libc.lseek(descriptor, offset, SEEK_DATA));
    if (start === -1 && this.#libc.errno() === constants.errno.ENXIO) return undefined;
    this.#check(start, 'lseek', `descriptor ${descriptor}`);
    const end = Number(this.#libc.lseek(descriptor, start, SEEK_HOLE));
    this.#check(end, 'lseek', `descriptor ${descriptor}`);
    return { start, end };
  }

  /** Makes the C library return freed memory to the kernel (malloc_trim(3)). */
  trimMemory(): void {
    this.#libc.mallocTrim?.(0);
  }

  /** Sets the hostname in this thread's UTS namespace. */
  setHostname(name: string): void {
    this.#check(this.#libc.sethostname(cString(name), Buffer.byteLength(name)), 'sethostname', name);
  }

  /**
   * Moves this thread into new namespaces (CLONE_NEW… flags). For `namespaces.ts` and `mount-namespace.ts` only, which move the thread
   * back.
   */
  unshare(flags: number): void {
    this.#check(this.#libc.unshare(flags), 'unshare', `flags 0x${flags.toString(16)}`);
  }

  /**
   * Moves this thread into the namespace referred to by an open file. For `namespaces.ts` and `mount-namespace.ts` only, which move the
   * thread back.
   */
  setNamespace(descriptor: number, type: number): void {
    this.#check(this.#libc.setns(descriptor, type), 'setns', `descriptor ${descriptor}`);
  }

  /**
   * Makes an open directory this thread's working directory. For `mount-namespace.ts` only, because node:process caches the working
   * directory.
   */
  changeDirectory(descriptor: number): void {
    this.#check(this.#libc.fchdir(descriptor), 'fchdir', `descriptor ${descriptor}`);
  }

  /** Makes the working directory this thread's root. For `mount-namespace.ts` only. */
  makeDirectoryRoot(): void {
    this.#check(this.#libc.chroot(cString('.')), 'chroot', 'the working directory');
  }

  /** Brings up an interface in this thread's network namespace, like `ip link set NAME up`. */
  bringInterfaceUp(name: string): void {
    const socket = this.#libc.socket(AF_INET, SOCK_DGRAM_CLOEXEC, 0);
    this.#check(socket, 'socket', name);
    try {
      const request = Buffer.alloc(40); // struct ifreq (linux/if.h): IFNAMSIZ = 16 bytes of name, then a union that begins with `short ifr_flags`
      request.write(name, 0, 15, 'latin1');
      this.#check(this.#libc.ioctl(socket, SIOCGIFFLAGS, request), 'ioctl SIOCGIFFLAGS', name);
      request.writeInt16LE(request.readInt16LE(16) | IFF_UP, 16);
      this.#check(this.#libc.ioctl(socket, SIOCSIFFLAGS, request), 'ioctl SIOCSIFFLAGS', name);
    } finally {
      this.#libc.close(socket);
    }
  }

  /** Sets the size of the terminal referred to by a descriptor. */
  setTerminalSize(descriptor: number, size: { columns: number; rows: number }): void {
    const argument = Buffer.alloc(8); // struct winsize (asm-generic/termios.h): u16 ws_row, ws_col, ws_xpixel, ws_ypixel
    argument.writeUInt16LE(size.rows, 0);
    argument.writeUInt16LE(size.columns, 2);
    this.#check(this.#libc.ioctl(descriptor, TIOCSWINSZ, argument), 'ioctl TIOCSWINSZ', `descriptor ${descriptor}`);
  }

  #check(result: number, syscall: string, path: SystemPath): void {
    if (result === -1) throw syscallError(syscall, path.toString(), this.#libc.errno());
  }
}

/** Binds the system calls. Throws `failed_precondition` if koffi has no build for this platform. */
export function loadSystem(): System {
  try {
    return new System(loadLibc());
  } catch (cause) {
    throw new PodwrightError(
      'failed_precondition',
      `load the C library on ${process.platform}-${process.arch}: ${cause instanceof Error ? cause.message : cause}; reinstall the packages on this host`,
      { cause },
    );
  }
}

function mountArguments(target: SystemPath, { source = '', type = '', flags, data = '' }: MountCall) {
  return [cString(source), cString(target), cString(type), flags, cString(data)] as const;
}

function cString(text: SystemPath): Buffer {
  if (text.length > 0 && (typeof text === 'string' ? text.includes('\0') : text.includes(0))) {
    throw new PodwrightError(
      'invalid_argument',
      `pass ${JSON.stringify(text.toString())} to the kernel: it contains a null byte`,
    );
  }
  if (typeof text === 'string') return Buffer.from(`${text}\0`);
  return Buffer.concat([text, Buffer.alloc(1)]);
}

/** Encodes a device number in the kernel's 32-bit format: 12 bits for the major number, 20 for the minor. */
function encodeDevice({ major, minor }: DeviceNode, path: SystemPath): number {
  if (major < 0 || major > 0xfff || minor < 0 || minor > 0xfffff) {
    throw new PodwrightError('invalid_argument', `mknod ${path}: device ${major}:${minor} is out of range`);
  }
  return ((minor & 0xff) | (major << 8) | ((minor & 0xfff00) << 12)) >>> 0;
}
