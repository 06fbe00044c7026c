import {
  closeSync,
  constants,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { isErrno, PodwrightError, sleep } from '@podwright/base';
import * as z from 'zod';
import { START_LOOK_MS } from './limits.ts';

/** Whose files a runtime's state is in: a directory a container, in one of the layouts that are known here. */
export type StateFormat = 'runc' | 'crun';

type KnownFormat = {
  /** Versions that have it. */
  versions: RegExp;
  stateFile: string;
  schema: z.ZodType<unknown>;
  /** What else may be in the directory. */
  others: string[];
  /** Lets the waiting process go on. */
  release(fifo: string, wait: StartWait): Promise<void>;
};

/** `alive` says whether the process is there; `signal` bounds the wait. */
export type StartWait = { id: string; alive: () => boolean; signal: AbortSignal };

/** At this FIFO a created container's process waits for its start; the runtimes' own `start` removes it. */
const START_FIFO = 'exec.fifo';

const pid = z.int().positive();

/**
 * As runc 1.1 (libcontainer, `BaseState`) and crun 1.8 (libcrun, status.c) have them. Of other versions with the same first
 * number, a trial shows whether they still do.
 */
const FORMATS: Record<StateFormat, KnownFormat> = {
  runc: {
    versions: /^1\./,
    stateFile: 'state.json',
    schema: z.object({
      id: z.string(),
      init_process_pid: pid,
      init_process_start: z.int(),
      cgroup_paths: z.object({}),
    }),
    others: [START_FIFO],
    release: readFromWaiting,
  },
  crun: {
    versions: /^1\./,
    stateFile: 'status',
    schema: z.object({ pid, 'cgroup-path': z.string(), bundle: z.string(), rootfs: z.string() }),
    others: [START_FIFO, 'config.json', 'seccomp.bpf'],
    release: writeToWaiting,
  },
};

/** Where the state of a container is: the runtime's `--root`, and the format of its files if that is known. */
export type StatePlace = { root: string; stateFormat?: StateFormat | undefined };

/** The format that a runtime of this name and version should have. */
export function expectedFormat({ name, version }: { name: string; version: string }): StateFormat | undefined {
  const format = name === 'runc' || name === 'crun' ? name : undefined;
  return format !== undefined && FORMATS[format].versions.test(version) ? format : undefined;
}

/** What the runtime's files say of a container; `undefined` if they are not as known: then the runtime itself is to be asked. */
export function readStateFiles({ root, stateFormat }: StatePlace, id: string): { waitsForStart: boolean } | undefined {
  if (stateFormat === undefined) return undefined;
  const { stateFile, schema } = FORMATS[stateFormat];
  try {
    if (!schema.safeParse(JSON.parse(readFileSync(join(root, id, stateFile), 'utf8'))).success) return undefined;
  } catch {
    return undefined;
  }
  // Looked at, not opened: that would already start the container.
  return { waitsForStart: statSync(join(root, id, START_FIFO), { throwIfNoEntry: false })?.isFIFO() === true };
}

/**
 * Starts a created container as the runtime's own `start` does. False, and nothing is done, if its files are not as known.
 * `failed_precondition` if its process has died; the signal's reason if it does not go on.
 */
export async function startByStateFiles(place: StatePlace, wait: StartWait): Promise<boolean> {
  if (place.stateFormat === undefined || readStateFiles(place, wait.id)?.waitsForStart !== true) return false;
  const fifo = join(place.root, wait.id, START_FIFO);
  await FORMATS[place.stateFormat].release(fifo, wait);
  rmSync(fifo, { force: true });
  return true;
}

/** Takes a directory out of its place. When it is removed is its own matter. */
export type ThrowAway = (directory: string) => void;

/**
 * Makes the runtime forget a container whose processes and cgroups are gone, by taking its files away. False, and nothing is done,
 * if they are not as known.
 */
export function removeStateFiles(place: StatePlace, id: string, throwAway: ThrowAway): boolean {
  if (place.stateFormat === undefined || readStateFiles(place, id) === undefined) return false;
  const { stateFile, others } = FORMATS[place.stateFormat];
  const directory = join(place.root, id);
  if (!readdirSync(directory).every((name) => name === stateFile || others.includes(name))) return false;
  throwAway(directory);
  return true;
}

/** runc's process writes one byte when there is a reader. */
async function readFromWaiting(fifo: string, wait: StartWait): Promise<void> {
  // Closing before the byte is there would break the writer's pipe.
  const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    await lookUntil(wait, () => unlessErrno('EAGAIN', () => readSync(reader, Buffer.alloc(1))) === 1);
  } finally {
    closeSync(reader);
  }
}

/** crun's process reads one byte. */
async function writeToWaiting(fifo: string, wait: StartWait): Promise<void> {
  await lookUntil(wait, () => {
    const writer = unlessErrno('ENXIO', () => openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK));
    if (writer === undefined) return false; // it has no reader yet
    try {
      return writeSync(writer, Buffer.alloc(1)) === 1;
    } finally {
      closeSync(writer);
    }
  });
}

/** What `work` returns, nothing if it fails with this code. */
function unlessErrno<T>(code: string, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (isErrno(error, code)) return undefined;
    throw error;
  }
}

/**
 * Looks until the process goes on, after a little longer each time: the kernel does not tell when a FIFO gets its other end,
 * which is a matter of microseconds.
 */
async function lookUntil({ id, alive, signal }: StartWait, goesOn: () => boolean): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    // Asked before the look: one that has gone on may end at once.
    const lives = alive();
    if (goesOn()) return;
    if (!lives)
      throw new PodwrightError('failed_precondition', `start task ${id}: its process has ended before its start`);
    await sleep(Math.min(attempt, START_LOOK_MS), signal);
  }
}
