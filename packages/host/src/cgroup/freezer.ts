/** Briefly freezes the processes of a cgroup (freezer-subsystem.rst; `cgroup.freeze` in cgroup-v2.rst). */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
import { isErrno, PodwrightError, sleep } from '@podwright/base';
import { type ProgramStarter, type StartedProgram, startByFork } from '../programs/program-starter.ts';
import { type CgroupHierarchy, cgroupDirectory, readCgroupFileSync, treeOf } from './hierarchy.ts';

/** How long to wait for all processes to be frozen. A process freezes once its current system call returns. */
const SETTLE_MS = 100;
/**
 * Longer than the granularity of the kernel's file timestamps (10 ms at most), so that changes made after this delay have a later ctime
 * than changes made before the processes were frozen.
 */
const TIMESTAMP_MS = 15;
/** How much longer than the timeout the thawer waits, so that this process can thaw the cgroup itself first. */
const THAWER_REST_MS = 500;

/**
 * Shell script that thaws the cgroup after the timeout or once its standard input is closed. If it reads a byte from there first, it exits
 * without thawing.
 */
const THAWER = '[ -n "$(timeout "$1" head -c1)" ] || echo "$2" > "$3"';

export type FreezeOptions = {
  /** Maximum time the cgroup stays frozen. Shortly after that, it is thawed even if this process has been stopped or killed. */
  maxMs: number;
  /** Starts the program that thaws the cgroup if this process does not. Replaceable for tests. */
  start?: ProgramStarter;
};

/**
 * A cgroup that stays frozen until disposed of. `frozenAtMs`: the wall-clock time at which its processes were frozen; files that change
 * afterwards have a later ctime.
 */
export type FrozenCgroup = AsyncDisposable & { frozenAtMs: number };

/**
 * Freezes the processes of the cgroup and its descendants. Processes in a system call freeze only when the call returns. Returns
 * `undefined` if the cgroup cannot be frozen, or is already frozen by another program. If the cgroup stays frozen because the host was shut
 * down or all programs were killed at once, `thawCgroup` thaws it.
 */
export async function freezeCgroup(
  hierarchy: CgroupHierarchy,
  path: string,
  { maxMs, start = startByFork }: FreezeOptions,
): Promise<FrozenCgroup | undefined> {
  const freezer = freezerOf(hierarchy, path);
  if (freezer === undefined || freezer.isFrozenItself() !== false) return undefined;
  const thawer = await startThawer(start, freezer, maxMs + THAWER_REST_MS);
  if (thawer === undefined) return undefined;
  const thaw = async () => {
    try {
      freezer.set(freezer.thawed);
    } catch (error) {
      endInput(thawer, ''); // the thawer tries as well
      throw error;
    }
    await endThawer(thawer);
  };
  try {
    freezer.set(freezer.frozen);
    const untilMs = performance.now() + Math.min(SETTLE_MS, maxMs);
    while (!freezer.isSettled() && performance.now() < untilMs) await sleep(1);
    const frozenAtMs = Date.now();
    await sleep(TIMESTAMP_MS);
    return { frozenAtMs, [Symbol.asyncDispose]: thaw };
  } catch (error) {
    await thaw();
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/**
 * Thaws a cgroup that is itself frozen, not just through an ancestor. Returns whether the cgroup was frozen. For cgroups left frozen by a
 * Podwright process that was killed.
 */
export function thawCgroup(hierarchy: CgroupHierarchy, path: string): boolean {
  const freezer = freezerOf(hierarchy, path);
  if (freezer?.isFrozenItself() !== true) return false;
  freezer.set(freezer.thawed);
  return true;
}

/** Whether the cgroup or one of its ancestors is being frozen, even if some of its processes have not frozen yet. */
export function isFrozenCgroup(hierarchy: CgroupHierarchy, path: string): boolean {
  for (let level = path; level !== '/'; level = dirname(level))
    if (freezerOf(hierarchy, level)?.isFrozenItself() === true) return true;
  return false;
}

/** A cgroup's freezer. `set` writes `frozen` or `thawed`; `isFrozenItself` returns `undefined` if the cgroup has no freezer. */
type Freezer = {
  file: string;
  frozen: string;
  thawed: string;
  set(value: string): void;
  isFrozenItself(): boolean | undefined;
  isSettled(): boolean;
};

function freezerOf(hierarchy: CgroupHierarchy, path: string): Freezer | undefined {
  if (path === '/' || path === '')
    throw new PodwrightError('invalid_argument', 'refusing to freeze or thaw the root cgroup');
  const tree = treeOf(hierarchy, 'freezer') ?? hierarchy.trees.find(({ version }) => version === 2);
  if (tree === undefined) return undefined;
  const directory = cgroupDirectory(tree, path);
  const [name, frozen, thawed] =
    tree.version === 1 ? (['freezer.state', 'FROZEN', 'THAWED'] as const) : (['cgroup.freeze', '1', '0'] as const);
  const file = join(directory, name);
  const itself = join(directory, tree.version === 1 ? 'freezer.self_freezing' : 'cgroup.freeze');
  const isSettled =
    tree.version === 1
      ? () => readFileSync(file, 'utf8').trim() === 'FROZEN'
      : () => /^frozen 1$/m.test(readFileSync(join(directory, 'cgroup.events'), 'utf8'));
  const isFrozenItself = () => {
    const state = readCgroupFileSync(itself)?.trim();
    return state === undefined ? undefined : state === '1';
  };
  const set = (value: string) => {
    try {
      writeFileSync(file, value, { flag: 'r+' });
    } catch (error) {
      // a cgroup without a freezer is not frozen, and a removed cgroup has no processes, so thawing either of them succeeds
      if (value === frozen || !isMissing(error)) throw error;
    }
  };
  return { file, frozen, thawed, set, isFrozenItself, isSettled };
}

const isMissing = (error: unknown) => ['ENOENT', 'ENODEV'].some((code) => isErrno(error, code));

async function startThawer(
  start: ProgramStarter,
  { thawed, file }: Freezer,
  maxMs: number,
): Promise<StartedProgram | undefined> {
  const seconds = String(maxMs / 1000);
  const options = { env: process.env, stdio: ['pipe', 'ignore', 'ignore'] as ('pipe' | 'ignore')[], detached: true };
  const thawer = start('sh', ['-c', THAWER, 'sh', seconds, thawed, file], options);
  thawer.on('error', () => undefined); // the program could not be started
  thawer.stdio[0]?.on('error', () => undefined);
  return thawer.pid === undefined ? undefined : thawer;
}

/**
 * Ends the thawer after the cgroup has been thawed. Waits for the thawer to exit, so that it cannot thaw the cgroup after another freeze.
 */
async function endThawer(thawer: StartedProgram): Promise<void> {
  const ended = thawer.exitCode === null && thawer.signalCode === null ? once(thawer as never, 'exit') : undefined;
  endInput(thawer, '.');
  await ended;
}

const endInput = ({ stdio }: StartedProgram, text: string) => (stdio[0] as Writable).end(text);
