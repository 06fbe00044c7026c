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

/** Format of an OCI runtime's state files, stored in one directory per container. */
export type StateFormat = 'runc' | 'crun';

type KnownFormat = {
  versions: RegExp;
  stateFile: string;
  schema: z.ZodType<unknown>;
  /** Files other than `stateFile` that the OCI runtime might store in the container's state directory. */
  others: string[];
  /** Releases the container process that is waiting at the start FIFO. */
  release(fifo: string, wait: StartWait): Promise<void>;
};

/** A container that is being started. `alive` checks whether its process still exists; `signal` limits the wait. */
export type StartWait = { id: string; alive: () => boolean; signal: AbortSignal };

/** FIFO at which a created container's process waits to be started. The OCI runtimes' own `start` command removes it. */
const START_FIFO = 'exec.fifo';

const pid = z.int().positive();

/**
 * The formats of runc 1.1 (libcontainer, `BaseState`) and crun 1.8 (libcrun, status.c). For other versions with the same major number, a
 * trial verifies that they use the same format.
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

/** The OCI runtime's state directory (`--root`) and, if supported, the format of its state files. */
export type StateLocation = { root: string; stateFormat?: StateFormat | undefined };

/** Returns the state file format expected of an OCI runtime with this name and version. */
export function expectedFormat({ name, version }: { name: string; version: string }): StateFormat | undefined {
  const format = name === 'runc' || name === 'crun' ? name : undefined;
  return format !== undefined && FORMATS[format].versions.test(version) ? format : undefined;
}

/**
 * Reads a container's state files. Returns `undefined` if they do not have the supported format, in which case the OCI runtime must be
 * called.
 */
export function readStateFiles(
  { root, stateFormat }: StateLocation,
  id: string,
): { waitsForStart: boolean } | undefined {
  if (stateFormat === undefined) return undefined;
  const { stateFile, schema } = FORMATS[stateFormat];
  try {
    if (!schema.safeParse(JSON.parse(readFileSync(join(root, id, stateFile), 'utf8'))).success) return undefined;
  } catch {
    return undefined;
  }
  // stat only: opening the FIFO would start the container
  return { waitsForStart: statSync(join(root, id, START_FIFO), { throwIfNoEntry: false })?.isFIFO() === true };
}

/**
 * Starts a created container like the OCI runtime's own `start` command. Returns false, without doing anything, if the state files do not
 * have the supported format. Throws `failed_precondition` if the container's process has died, and the signal's abort reason if the
 * container does not start in time.
 */
export async function startByStateFiles(location: StateLocation, wait: StartWait): Promise<boolean> {
  if (location.stateFormat === undefined || readStateFiles(location, wait.id)?.waitsForStart !== true) return false;
  const fifo = join(location.root, wait.id, START_FIFO);
  await FORMATS[location.stateFormat].release(fifo, wait);
  rmSync(fifo, { force: true });
  return true;
}

/** Moves a directory out of the way immediately, to be deleted later. */
export type ThrowAway = (directory: string) => void;

/**
 * Removes the state files of a container whose processes and cgroups are already gone. Returns false, without doing anything, if the files
 * do not have the supported format.
 */
export function removeStateFiles(location: StateLocation, id: string, throwAway: ThrowAway): boolean {
  if (location.stateFormat === undefined || readStateFiles(location, id) === undefined) return false;
  const { stateFile, others } = FORMATS[location.stateFormat];
  const directory = join(location.root, id);
  if (!readdirSync(directory).every((name) => name === stateFile || others.includes(name))) return false;
  throwAway(directory);
  return true;
}

/** Releases a runc process, which writes a byte to the FIFO as soon as the FIFO has a reader. */
async function readFromWaiting(fifo: string, wait: StartWait): Promise<void> {
  // keep this end of the FIFO open until runc has written its byte; otherwise, the write would fail with EPIPE
  const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    await pollUntil(wait, () => unlessErrno('EAGAIN', () => readSync(reader, Buffer.alloc(1))) === 1);
  } finally {
    closeSync(reader);
  }
}

/** Releases a crun process, which reads one byte from the FIFO. */
async function writeToWaiting(fifo: string, wait: StartWait): Promise<void> {
  await pollUntil(wait, () => {
    const writer = unlessErrno('ENXIO', () => openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK));
    if (writer === undefined) return false; // the FIFO has no reader yet
    try {
      return writeSync(writer, Buffer.alloc(1)) === 1;
    } finally {
      closeSync(writer);
    }
  });
}

function unlessErrno<T>(code: string, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (isErrno(error, code)) return undefined;
    throw error;
  }
}

/**
 * Polls with increasing delays until the process has been released. The kernel does not report when the other end of a FIFO is opened, but
 * this normally happens within microseconds.
 */
async function pollUntil({ id, alive, signal }: StartWait, isReleased: () => boolean): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    // check this before checking for the release, because the process might exit right after its release
    const isAlive = alive();
    if (isReleased()) return;
    if (!isAlive)
      throw new PodwrightError('failed_precondition', `start task ${id}: its process has ended before its start`);
    await sleep(Math.min(attempt, START_LOOK_MS), signal);
  }
}
