/** Loads a native part of the executable. The dynamic linker takes only files, so the part is a file for a moment. */

/**
 * Directories that only root can write to come first. Some hosts mount /run or /tmp with `noexec`, which the dynamic linker obeys; so the
 * next directory is tried after any error.
 */
function directories(): string[] {
  const user = process.env.XDG_RUNTIME_DIR;
  const own = user === undefined ? [] : [user];
  return [...(process.getuid?.() === 0 ? ['/run', '/var/lib'] : own), '/dev/shm', '/tmp', '/var/tmp'];
}

/** The file is in a new directory that only this user can enter, and is deleted once it is loaded. */
export function loadNativePart(name: string, content: () => Uint8Array): unknown {
  const failures: string[] = [];
  for (const directory of directories()) {
    try {
      return loadIn(directory, name, content());
    } catch (error) {
      failures.push((error as Error).message);
    }
  }
  throw new Error(`load ${name}: no directory allows it: ${failures.join('; ')}`);
}

const PREFIX = 'podwright-native-';
/** Longer than a process takes to load a part. */
const MAX_AGE_MS = 60_000;

function loadIn(parent: string, name: string, content: Uint8Array): unknown {
  const { mkdtempSync, rmSync, writeFileSync } = process.getBuiltinModule('node:fs');
  removeLeftovers(parent);
  const directory = mkdtempSync(`${parent}/${PREFIX}`); // with mode 0700
  try {
    const file = `${directory}/${name}`;
    writeFileSync(file, content, { flag: 'wx', mode: 0o500 });
    const module = { exports: {} };
    process.dlopen(module, file);
    return module.exports;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Removes directories of processes that were killed while they loaded a part. */
function removeLeftovers(parent: string): void {
  const { lstatSync, readdirSync, rmSync } = process.getBuiltinModule('node:fs');
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(PREFIX)) continue;
    const { uid, mtimeMs } = lstatSync(`${parent}/${name}`, { throwIfNoEntry: false }) ?? { uid: -1, mtimeMs: 0 };
    if (uid === process.getuid?.() && mtimeMs < Date.now() - MAX_AGE_MS)
      rmSync(`${parent}/${name}`, { recursive: true, force: true });
  }
}
