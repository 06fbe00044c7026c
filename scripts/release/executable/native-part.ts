/** Loads a native part of the executable. The dynamic linker only accepts files, so the part is briefly written to one. */

/**
 * Returns the directories to try for the temporary file, starting with those writable only by root. Some hosts mount /run or /tmp with
 * `noexec`, which the dynamic linker honors, so the next directory is tried after any error.
 */
function directories(): string[] {
  const user = process.env.XDG_RUNTIME_DIR;
  const own = user === undefined ? [] : [user];
  return [...(process.getuid?.() === 0 ? ['/run', '/var/lib'] : own), '/dev/shm', '/tmp', '/var/tmp'];
}

/** Writes the part to a file in a new directory that only this user can enter, and deletes it once loaded. */
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
/** Age above which a temporary directory of another process is considered left over: longer than loading a native part takes. */
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

/** Removes directories left by processes that were killed while loading a part. */
function removeLeftovers(parent: string): void {
  const { lstatSync, readdirSync, rmSync } = process.getBuiltinModule('node:fs');
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(PREFIX)) continue;
    const { uid, mtimeMs } = lstatSync(`${parent}/${name}`, { throwIfNoEntry: false }) ?? { uid: -1, mtimeMs: 0 };
    if (uid === process.getuid?.() && mtimeMs < Date.now() - MAX_AGE_MS)
      rmSync(`${parent}/${name}`, { recursive: true, force: true });
  }
}
