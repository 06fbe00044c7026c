import koffi from 'koffi';

type NativeFunction = ReturnType<ReturnType<typeof koffi.load>['func']>;

type Pointer = Buffer | null;

/** C library functions missing from node:fs, with C conventions: -1 means failure, and `errno` returns the error number. */
export type Libc = {
  errno(): number;
  /** malloc_trim(3), if provided by the C library (as by glibc). */
  mallocTrim?(pad: number): number;
  mount(source: Pointer, target: Pointer, type: Pointer, flags: number, data: Pointer): number;
  /** mount(2) on a libuv pool thread. Does not set the calling thread's `errno`. */
  mountAsync(source: Pointer, target: Pointer, type: Pointer, flags: number, data: Pointer): Promise<number>;
  umount2(target: Pointer, flags: number): number;
  /** mknodat(2), relative to the working directory. */
  mknod(path: Pointer, mode: number, device: number): number;
  lsetxattr(path: Pointer, name: Pointer, value: Pointer, size: number, flags: number): number;
  lgetxattr(path: Pointer, name: Pointer, value: Pointer, size: number): number;
  llistxattr(path: Pointer, list: Pointer, size: number): number;
  lremovexattr(path: Pointer, name: Pointer): number;
  flock(descriptor: number, operation: number): number;
  lseek(descriptor: number, offset: number, whence: number): number | bigint;
  sethostname(name: Pointer, length: number): number;
  unshare(flags: number): number;
  setns(descriptor: number, type: number): number;
  fchdir(descriptor: number): number;
  chroot(path: Pointer): number;
  socket(domain: number, type: number, protocol: number): number;
  setsockopt(descriptor: number, level: number, name: number, value: Buffer, size: number): number;
  close(descriptor: number): number;
  ioctl(descriptor: number, request: number, argument: Pointer): number;
  /** open_tree(2), relative to the working directory. */
  openTree(path: Pointer, flags: number): number;
  /** move_mount(2): attaches the mount referred to by a descriptor at a path. */
  moveMount(descriptor: number, target: Pointer): number;
  /** mount_setattr(2) for the mount referred to by a descriptor. */
  mountSetattr(descriptor: number, flags: number, attributes: Buffer): number;
  /**
   * statvfs(3) on a libuv pool thread, because a network file system has to contact its server. Does not set the calling thread's `errno`.
   */
  statvfs(path: Pointer, result: Buffer): Promise<number>;
};

/** AT_FDCWD (linux/fcntl.h): paths are relative to the working directory. */
const AT_FDCWD = -100;
/** System call numbers of mknodat(2), for which glibc has no wrapper before 2.33. Newer architectures all use 33. */
const MKNODAT_NUMBERS: Partial<Record<NodeJS.Architecture, number>> = { x64: 259, arm64: 33, riscv64: 33, loong64: 33 };

/** System call numbers without wrappers in glibc before 2.36. Numbers above 423 are the same on all architectures that Node.js supports. */
const CALL_NUMBERS = { openTree: 428, moveMount: 429, mountSetattr: 442 };
/** Flag of move_mount(2) (linux/mount.h): the source is the mount that the descriptor refers to. */
const MOVE_MOUNT_F_EMPTY_PATH = 4;
const EMPTY = Buffer.alloc(1);

/** Binds the C library that this process uses (glibc or musl). Main thread only: koffi is not safe in worker threads. */
export function loadLibc(): Libc {
  const library = koffi.load(null);
  const bind = (definition: string) => library.func(definition);
  const syscall = bind('long syscall(long number, ...)');
  const statvfs = bind('int statvfs(void *path, void *result)');
  const mount = bind('int mount(void *source, void *target, void *type, unsigned long flags, void *data)');
  const ioctl = bind('int ioctl(int fd, unsigned long request, ...)');
  const mknodatNumber = MKNODAT_NUMBERS[process.arch];
  return {
    errno: () => koffi.errno(),
    mallocTrim: bindIfThere(library, 'int malloc_trim(size_t pad)'),
    mount,
    mountAsync: (...given) => callAsync(mount, ...given),
    umount2: bind('int umount2(void *target, int flags)'),
    mknod: (path, mode, device) => {
      if (mknodatNumber === undefined) throw new Error(`mknodat: unknown system call number on ${process.arch}`);
      return syscall(mknodatNumber, 'int', AT_FDCWD, 'void *', path, 'long', mode, 'long', device);
    },
    lsetxattr: bind('int lsetxattr(void *path, void *name, void *value, size_t size, int flags)'),
    lgetxattr: bind('long lgetxattr(void *path, void *name, void *value, size_t size)'),
    llistxattr: bind('long llistxattr(void *path, void *list, size_t size)'),
    lremovexattr: bind('int lremovexattr(void *path, void *name)'),
    lseek: bind('int64_t lseek(int fd, int64_t offset, int whence)'),
    flock: bind('int flock(int fd, int operation)'),
    sethostname: bind('int sethostname(void *name, size_t length)'),
    unshare: bind('int unshare(int flags)'),
    setns: bind('int setns(int fd, int type)'),
    fchdir: bind('int fchdir(int fd)'),
    chroot: bind('int chroot(void *path)'),
    socket: bind('int socket(int domain, int type, int protocol)'),
    setsockopt: bind('int setsockopt(int fd, int level, int name, void *value, uint32_t size)'),
    close: bind('int close(int fd)'),
    ioctl: (descriptor, request, argument) => ioctl(descriptor, request, 'void *', argument),
    openTree: (path, flags) => syscall(CALL_NUMBERS.openTree, 'int', AT_FDCWD, 'void *', path, 'unsigned int', flags),
    moveMount: (descriptor, target) => {
      const to = ['int', AT_FDCWD, 'void *', target, 'unsigned int', MOVE_MOUNT_F_EMPTY_PATH] as const;
      return syscall(CALL_NUMBERS.moveMount, 'int', descriptor, 'void *', EMPTY, ...to);
    },
    mountSetattr: (descriptor, flags, attributes) => {
      const how = ['unsigned int', flags, 'void *', attributes, 'size_t', attributes.length] as const;
      return syscall(CALL_NUMBERS.mountSetattr, 'int', descriptor, 'void *', EMPTY, ...how);
    },
    statvfs: (path, result) => callAsync(statvfs, path, result),
  };
}

/** Calls a function on a libuv pool thread. Arguments must not be modified until the promise resolves. */
function callAsync(call: NativeFunction, ...given: unknown[]): Promise<number> {
  return new Promise((resolve, reject) =>
    call.async(...given, (error: unknown, code: number) => (error ? reject(error) : resolve(code))),
  );
}

function bindIfThere(library: ReturnType<typeof koffi.load>, definition: string) {
  try {
    return library.func(definition);
  } catch {
    return undefined;
  }
}
