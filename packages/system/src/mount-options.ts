/** Flags of mount(2). */
export const mountFlags = {
  readOnly: 1,
  noSuid: 2,
  noDev: 4,
  noExec: 8,
  synchronous: 16,
  remount: 32,
  mandLock: 64,
  dirSync: 128,
  noSymFollow: 256,
  noAtime: 1024,
  noDirAtime: 2048,
  bind: 4096,
  recursive: 16384,
  silent: 32768,
  unbindable: 1 << 17,
  private: 1 << 18,
  slave: 1 << 19,
  shared: 1 << 20,
  relAtime: 1 << 21,
  strictAtime: 1 << 24,
  lazyTime: 1 << 25,
} as const;

const { recursive } = mountFlags;

/** fstab(5) options that correspond to flags: the flags to set or, for negated options, to clear. */
const flagOptions: Record<string, { set?: number; clear?: number }> = {
  defaults: {},
  ro: { set: mountFlags.readOnly },
  rw: { clear: mountFlags.readOnly },
  nosuid: { set: mountFlags.noSuid },
  suid: { clear: mountFlags.noSuid },
  nodev: { set: mountFlags.noDev },
  dev: { clear: mountFlags.noDev },
  noexec: { set: mountFlags.noExec },
  exec: { clear: mountFlags.noExec },
  sync: { set: mountFlags.synchronous },
  async: { clear: mountFlags.synchronous },
  remount: { set: mountFlags.remount },
  mand: { set: mountFlags.mandLock },
  nomand: { clear: mountFlags.mandLock },
  dirsync: { set: mountFlags.dirSync },
  nosymfollow: { set: mountFlags.noSymFollow },
  symfollow: { clear: mountFlags.noSymFollow },
  noatime: { set: mountFlags.noAtime },
  atime: { clear: mountFlags.noAtime },
  nodiratime: { set: mountFlags.noDirAtime },
  diratime: { clear: mountFlags.noDirAtime },
  relatime: { set: mountFlags.relAtime },
  norelatime: { clear: mountFlags.relAtime },
  strictatime: { set: mountFlags.strictAtime },
  nostrictatime: { clear: mountFlags.strictAtime },
  lazytime: { set: mountFlags.lazyTime },
  bind: { set: mountFlags.bind },
  rbind: { set: mountFlags.bind | recursive },
};

const propagationOptions: Record<string, number> = {
  private: mountFlags.private,
  rprivate: mountFlags.private | recursive,
  shared: mountFlags.shared,
  rshared: mountFlags.shared | recursive,
  slave: mountFlags.slave,
  rslave: mountFlags.slave | recursive,
  unbindable: mountFlags.unbindable,
  runbindable: mountFlags.unbindable | recursive,
};

/** Options in the form expected by mount(2). Each propagation change takes a separate call after mounting. */
export type ParsedMountOptions = { flags: number; propagation: number[]; data: string[] };

/** Splits fstab-style options into flags, propagation, and file-system-specific options. Later options override earlier ones. */
export function parseMountOptions(options: string[]): ParsedMountOptions {
  const parsed: ParsedMountOptions = { flags: 0, propagation: [], data: [] };
  for (const option of options) {
    const flag = Object.hasOwn(flagOptions, option) ? flagOptions[option] : undefined;
    const propagation = Object.hasOwn(propagationOptions, option) ? propagationOptions[option] : undefined;
    if (flag !== undefined) parsed.flags = (parsed.flags | (flag.set ?? 0)) & ~(flag.clear ?? 0);
    else if (propagation !== undefined) parsed.propagation.push(propagation);
    else if (option !== '') parsed.data.push(option);
  }
  return parsed;
}
