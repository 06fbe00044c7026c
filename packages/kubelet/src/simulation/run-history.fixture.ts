import fs, { mkdtempSync, rmSync } from 'node:fs';
import files from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import type { History } from './history.fixture.ts';
import { PodMaker } from './pods.fixture.ts';
import { VirtualTime } from './virtual-time.fixture.ts';
import { World } from './world.fixture.ts';

/** Runs `work` with virtual time instead of the process's clocks, and with synchronous file operations. */
export async function simulate<T>(work: (run: RunHistory) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(IN_MEMORY);
  const time = new VirtualTime();
  const maker = new PodMaker();
  const undo = [time.install(), immediateFiles(), withoutStacks()];
  const run: RunHistory = async (history, log) => {
    time.reset();
    const world = new World({ time, maker, directory: join(directory, 'node'), log });
    return await world.run(history);
  };
  try {
    return await work(run);
  } finally {
    for (const one of undo) one();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Runs a history and returns the problems found, if any. Logs events with `log`. */
export type RunHistory = (history: History, log?: (line: string) => void) => Promise<string[]>;

/** Prefix of the nodes' temporary directories, which are in memory. */
const IN_MEMORY = '/dev/shm/pwk-simulation-';

/** Disables stack traces for speed, because most errors in a simulation are expected. Returns a function that undoes this. */
function withoutStacks(): () => void {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  return () => {
    Error.stackTraceLimit = stackTraceLimit;
  };
}

const NAMES = [
  'access',
  'lstat',
  'mkdir',
  'readFile',
  'readdir',
  'rename',
  'rmdir',
  'rm',
  'stat',
  'unlink',
  'writeFile',
];

/** Makes file operations synchronous, because the order of threads is not deterministic. Returns a function that undoes this. */
function immediateFiles(): () => void {
  const before = { ...files };
  const sync = fs as unknown as Record<string, (...given: unknown[]) => unknown>;
  const replaced = Object.fromEntries(
    NAMES.map((name) => [name, async (...given: unknown[]) => sync[`${name}Sync`]!(...given)]),
  );
  Object.assign(files, replaced, { open: openNow, opendir: openDirectoryNow });
  syncBuiltinESMExports();
  return () => {
    Object.assign(files, before);
    syncBuiltinESMExports();
  };
}

async function openNow(path: fs.PathLike, flags: number) {
  const fd = fs.openSync(path, flags);
  const close = async () => fs.closeSync(fd);
  return { fd, close, [Symbol.asyncDispose]: close };
}

async function openDirectoryNow(path: string, options: { encoding: BufferEncoding }) {
  const entries = fs.readdirSync(path, { ...options, withFileTypes: true });
  return (async function* () {
    yield* entries;
  })();
}

/** Shrinks a history that fails, by removing steps while it still fails in the same way: first half of them at a time, then ever fewer. */
export async function shrink(history: History, isWrong: (shorter: History) => Promise<boolean>): Promise<History> {
  let best = history;
  for (let size = Math.ceil(best.steps.length / 2); size >= 1; ) {
    let shorter = false;
    for (let at = 0; at < best.steps.length; ) {
      const steps = best.steps.toSpliced(at, size);
      if (await isWrong({ ...best, steps })) {
        best = { ...best, steps };
        shorter = true;
      } else at += size;
    }
    if (size === 1 && !shorter) break;
    size = size === 1 ? 1 : Math.ceil(size / 2);
  }
  return best;
}
