import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { constants, open } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno, PodwrightError, runProgram, sleep } from '@podwright/base';
import { runtimeError } from './runtime-error.ts';

/** An OCI runtime's command line program. */
export type OciProgram = {
  /** runc, crun, or another runtime's base name. It also names the folder of its state. */
  name: string;
  /** What is started: the runtime, or a program that becomes it. */
  path: string;
  /** Arguments before those of the runtime: the runtime's path, where `path` is another program. */
  args?: string[];
};

/** A program together with the folder of its state, its `--root`. */
export type OciRuntime = OciProgram & { root: string };

/** Longest that `delete`, `update` and the like may take. */
const commandTimeoutMs = 30_000;

/** Runs one command of the runtime that must succeed; its words and their class otherwise. */
export async function runOciCommand(runtime: OciRuntime, args: string[]): Promise<string> {
  const signal = AbortSignal.timeout(commandTimeoutMs);
  const result = await runProgram(runtime.path, [...globalArguments(runtime), ...args], { signal });
  if (result.exitCode === 0) return result.stdout;
  throw runtimeError(`${runtime.name} ${args.join(' ')}`, result.stderr);
}

/**
 * The runtime, started with the `oom_score_adj` that the processes of its `exec` are to have. runc sets it, crun (to 1.29 at
 * least) does so for a container's first process alone: those of an exec would inherit ours, by which a unit keeps us from
 * being killed for memory, and would outlive everything else on the machine. Costs half a millisecond. What may not be set
 * stays as it is.
 */
export function withOomScore(runtime: OciRuntime, oomScoreAdj: number | undefined): OciRuntime {
  if (runtime.name === 'runc' || oomScoreAdj === undefined) return runtime;
  const script = 'echo "$0" 2>/dev/null >/proc/self/oom_score_adj; exec "$@"';
  const args = ['-c', script, String(oomScoreAdj), runtime.path, ...(runtime.args ?? [])];
  return { ...runtime, path: '/bin/sh', args };
}

/** What goes before each of the runtime's commands. */
export function globalArguments(runtime: OciRuntime): string[] {
  return [...(runtime.args ?? []), '--root', runtime.root];
}

/**
 * Makes the runtime forget a task whose processes and cgroups are gone. runc and crun keep a folder of plain files a task,
 * whose removal here saves starting the program, 6 ms; other runtimes, and tasks with hooks, are deleted by their program.
 */
export async function forgetTask(runtime: OciRuntime, task: { id: string; hooks: boolean }): Promise<void> {
  const directory = join(runtime.root, task.id);
  if (!task.hooks && isKnown(runtime) && removePlainFolder(directory)) return;
  await runOciCommand(runtime, ['delete', '--force', task.id]);
}

/** False if there is anything but plain files in the folder. */
function removePlainFolder(directory: string): boolean {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    if (entries.some((entry) => entry.isDirectory())) return false;
    for (const entry of entries) rmSync(join(directory, entry.name), { force: true });
    rmdirSync(directory);
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
  }
  return true;
}

/** A task that waits for its start, as the runtimes' own `start` and `state` commands find it. */
const startFifo = (runtime: OciRuntime, id: string) => join(runtime.root, id, 'exec.fifo');

/** Whether a created task still waits for its start; `undefined` for a runtime whose ways we do not know. */
export function waitsForStart(runtime: OciRuntime, id: string): boolean | undefined {
  if (!isKnown(runtime)) return undefined;
  // Not opened: that would already start the task.
  return existsSync(startFifo(runtime, id));
}

/**
 * Starts a created task. runc and crun both keep its process waiting at a FIFO, of which `start` uses the other end
 * and then removes it: doing that here saves starting a program, 10 ms with runc. Other runtimes, and tasks with
 * hooks, are started by their program.
 */
export async function startTask(
  runtime: OciRuntime,
  task: { id: string; hooks: boolean; alive: () => boolean },
): Promise<void> {
  if (task.hooks || !isKnown(runtime)) {
    await runOciCommand(runtime, ['start', task.id]);
    return;
  }
  const path = startFifo(runtime, task.id);
  const release = runtime.name === 'runc' ? readFromWaiting : writeToWaiting;
  for (let attempt = 0; ; attempt++) {
    if (await release(path)) break;
    if (attempt > 200 || !task.alive())
      throw new PodwrightError('failed_precondition', `start task ${task.id}: its process does not wait for its start`);
    await sleep(Math.min(attempt, 20));
  }
  rmSync(path, { force: true });
}

/** The runtimes whose ways of keeping a task are known here. */
const isKnown = ({ name }: OciProgram) => name === 'runc' || name === 'crun';

/** runc's process writes one byte when somebody reads. True once it came. */
async function readFromWaiting(path: string): Promise<boolean> {
  const fifo = await openFifo(path, constants.O_RDONLY);
  if (fifo === undefined) return false;
  try {
    // Closing before the byte is there would break the writer's pipe.
    for (let attempt = 0; attempt < 100; attempt++) {
      const { bytesRead } = await fifo.read(Buffer.alloc(1)).catch(ignoreAgain);
      if (bytesRead > 0) return true;
      await sleep(Math.min(attempt, 20));
    }
    return false;
  } finally {
    await fifo.close();
  }
}

/** crun's process reads one byte. True once it is written; false while nobody has the other end. */
async function writeToWaiting(path: string): Promise<boolean> {
  const fifo = await openFifo(path, constants.O_WRONLY);
  if (fifo === undefined) return false;
  try {
    return (await fifo.write(Buffer.alloc(1))).bytesWritten === 1;
  } finally {
    await fifo.close();
  }
}

async function openFifo(path: string, flags: number) {
  try {
    return await open(path, flags | constants.O_NONBLOCK);
  } catch (error) {
    if (isErrno(error, 'ENXIO') || isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function ignoreAgain(error: unknown): { bytesRead: number } {
  if (isErrno(error, 'EAGAIN')) return { bytesRead: 0 };
  throw error;
}
