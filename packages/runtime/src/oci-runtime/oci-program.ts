import { PodwrightError, runProgram, startByFork, withTimeout } from '@podwright/base';
import * as z from 'zod';
import { COMMAND_TIMEOUT_MS } from './limits.ts';
import { runtimeError } from './runtime-error.ts';
import {
  readStateFiles,
  removeStateFiles,
  type StartWait,
  type StateFormat,
  startByStateFiles,
  type ThrowAway,
} from './state-files.ts';

/** An OCI runtime's command line program. */
export type OciProgram = {
  /** runc, crun, or another runtime's base name. It also names the directory of its state. */
  name: string;
  /** What is started: the runtime, or a program that becomes it. */
  path: string;
  /** Arguments before those of the runtime: the runtime's path, where `path` is another program. */
  args?: string[];
  /** The format of the files in which it keeps its state, where a trial has shown that it is one of those that are known. */
  stateFormat?: StateFormat | undefined;
  /** A shorter way than by `path` and `args`, for create and exec (`covered-call.ts`). Earlier versions know only the other. */
  covered?: CoveredTree | undefined;
};

/** A runtime that is to run in a mount namespace where the tree of cgroups at `tree` is covered. */
export type CoveredTree = { tree: string; path: string; nsenter: string };

/** A program together with the directory of its state, its `--root`. */
export type OciRuntime = OciProgram & { root: string };

/** A shell that starts a runtime has a script and the runtime's path for its last arguments. */
export const SHELL = '/bin/sh';

/** Runs one command of the runtime that must succeed; its message and the class of that otherwise. */
export async function runOciCommand(runtime: OciRuntime, args: string[], start = startByFork): Promise<string> {
  using signal = withTimeout(undefined, COMMAND_TIMEOUT_MS, runtime.name);
  const result = await runProgram(runtime.path, [...globalArguments(runtime), ...args], { signal, start });
  if (result.exitCode === 0) return result.stdout;
  throw runtimeError(`${runtime.name} ${args.join(' ')}`, result.stderr);
}

/**
 * The runtime, started with the `oom_score_adj` that the processes of its `exec` are to have. runc sets it, crun (to 1.29 at
 * least) does so for a container's first process alone: those of an exec would inherit ours, by which a unit keeps us from
 * being killed for memory, and would outlive everything else on the host. Costs half a millisecond. What may not be set
 * stays as it is.
 */
export function withOomScore(runtime: OciRuntime, oomScoreAdj: number | undefined): OciRuntime {
  if (runtime.name === 'runc' || oomScoreAdj === undefined) return runtime;
  const { path, args = [] } = runtime;
  const set = `echo ${oomScoreAdj} 2>/dev/null >/proc/self/oom_score_adj`;
  const [shell, option, script, ...words] = args.slice(-4);
  // Where a shell becomes the runtime anyway, it sets this, too.
  if (shell === SHELL && option === '-c')
    return { ...runtime, args: [...args.slice(0, -4), shell, option, `${set}; ${script}`, ...words] };
  return { ...runtime, path: SHELL, args: ['-c', `${set}; exec "$0" "$@"`, path, ...args] };
}

/**
 * The runtime, started to create a container with a user namespace by a caller that gives it /dev/null where there is nothing to
 * read, or with a `terminal` for all its stdio. crun would make root of that namespace the owner of /dev/null on the host (runc
 * leaves that one alone). It gets the end of a pipe instead; with a terminal, which replaces it in the container, the named pipe
 * `stdio` in its working directory.
 */
export function withoutHostNull(runtime: OciRuntime, { terminal }: { terminal: boolean }): OciRuntime {
  if (runtime.name === 'runc') return runtime;
  const script = terminal ? 'mkfifo stdio && exec "$0" "$@" 0<>stdio 1>&0 2>&0' : ': | exec "$0" "$@"';
  return { ...runtime, path: SHELL, args: ['-c', script, runtime.path, ...(runtime.args ?? [])] };
}

/** What goes before each of the runtime's commands. */
export function globalArguments(runtime: OciRuntime): string[] {
  return [...(runtime.args ?? []), '--root', runtime.root];
}

/** A task to forget, and what takes its files. */
export type ForgottenTask = { id: string; hooks: boolean; throwAway: ThrowAway };

/**
 * Makes the runtime forget a task whose processes and cgroups are gone. Where its files are as known, their removal saves
 * starting the program; tasks with hooks, and those of other runtimes, are deleted by the program.
 */
export async function forgetTask(runtime: OciRuntime, task: ForgottenTask): Promise<void> {
  if (task.hooks || !removeStateFiles(runtime, task.id, task.throwAway))
    await runOciCommand(runtime, ['delete', '--force', task.id]);
}

/**
 * Starts a created task. Where the runtime's files are as known, this is done in the place of its own `start`, which saves
 * starting a program; tasks with hooks, and those of other runtimes, are started by the program.
 */
export async function startTask(runtime: OciRuntime, task: StartWait & { hooks: boolean }): Promise<void> {
  if (task.hooks || !(await startByStateFiles(runtime, task))) await runOciCommand(runtime, ['start', task.id]);
}

/** Whether a created task still waits for its start: by the runtime's files if they are as known, else by its `state` command. */
export async function waitsForStart(runtime: OciRuntime, id: string): Promise<boolean> {
  const known = readStateFiles(runtime, id);
  return known?.waitsForStart ?? (await readOciStatus(runtime, id)) === 'created';
}

/** The status in the answer of the runtime's `state` command (runtime-spec, runtime.md), or `paused`. */
export async function readOciStatus(runtime: OciRuntime, id: string): Promise<string> {
  const answer = stateSchema.safeParse(parseJson(await runOciCommand(runtime, ['state', id])));
  if (answer.success) return answer.data.status;
  throw new PodwrightError('internal', `${runtime.name} state ${id}: its answer has no status`);
}

const stateSchema = z.object({ status: z.string() });

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
