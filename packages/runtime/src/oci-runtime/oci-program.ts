import { PodwrightError, withTimeout } from '@podwright/base';
import { runProgram, startByFork } from '@podwright/host';
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
  /** runc, crun, or another runtime's base name. Also the name of its state directory. */
  name: string;
  /** Path of the program to start: the runtime itself, or a wrapper that executes it. */
  path: string;
  /** Arguments before the runtime's own. If `path` is a wrapper, they end with the runtime's path. */
  args?: string[];
  /** Format of the runtime's state files, if a trial has verified that it is a supported one. */
  stateFormat?: StateFormat | undefined;
  /**
   * For create and exec, a faster way to start the runtime than `path` and `args` (`covered-call.ts`). Earlier versions of Podwright use
   * only `path` and `args`, so those stay in the records.
   */
  covered?: CoveredTree | undefined;
};

/** The runtime at `path` must run in a mount namespace in which the cgroup tree at `tree` is covered. */
export type CoveredTree = { tree: string; path: string; nsenter: string };

/** A program and its state directory (`--root`). */
export type OciRuntime = OciProgram & { root: string };

/** The shell of wrappers. Its last arguments are `-c`, a script, and the runtime's path. */
export const SHELL = '/bin/sh';

/** Runs one command of the runtime and returns its output. Throws the runtime's message with a matching error code. */
export async function runOciCommand(runtime: OciRuntime, args: string[], start = startByFork): Promise<string> {
  using signal = withTimeout(undefined, COMMAND_TIMEOUT_MS, runtime.name);
  const result = await runProgram(runtime.path, [...globalArguments(runtime), ...args], { signal, start });
  if (result.exitCode === 0) return result.stdout;
  throw runtimeError(`${runtime.name} ${args.join(' ')}`, result.stderr);
}

/**
 * Starts the runtime with the `oom_score_adj` for the processes of its `exec`. runc sets it itself, but crun (up to 1.29 at least) does so
 * only for the container's init process: processes of an exec would inherit the value with which the daemon's unit protects the daemon from
 * the OOM killer, and would be killed last. The wrapper takes half a millisecond. If this process may not set the value, the runtime starts
 * without it.
 */
export function withOomScore(runtime: OciRuntime, oomScoreAdj: number | undefined): OciRuntime {
  if (runtime.name === 'runc' || oomScoreAdj === undefined) return runtime;
  const { path, args = [] } = runtime;
  const set = `echo ${oomScoreAdj} 2>/dev/null >/proc/self/oom_score_adj`;
  const [shell, option, script, ...words] = args.slice(-4);
  // An existing shell wrapper sets the value, too.
  if (shell === SHELL && option === '-c')
    return { ...runtime, args: [...args.slice(0, -4), shell, option, `${set}; ${script}`, ...words] };
  return { ...runtime, path: SHELL, args: ['-c', `${set}; exec "$0" "$@"`, path, ...args] };
}

/**
 * Starts the runtime with a pipe in place of /dev/null, to create a container in a user namespace. The caller passes /dev/null as stdin,
 * or, with a `terminal`, as all of its stdio, and crun would change the owner of the host's /dev/null to root of that namespace (runc does
 * not). crun gets a pipe instead; with a terminal, which replaces stdio in the container, the named pipe `stdio` in its working directory.
 */
export function withoutHostNull(runtime: OciRuntime, { terminal }: { terminal: boolean }): OciRuntime {
  if (runtime.name === 'runc') return runtime;
  const script = terminal ? 'mkfifo stdio && exec "$0" "$@" 0<>stdio 1>&0 2>&0' : ': | exec "$0" "$@"';
  return { ...runtime, path: SHELL, args: ['-c', script, runtime.path, ...(runtime.args ?? [])] };
}

/** Arguments before the runtime's command. */
export function globalArguments(runtime: OciRuntime): string[] {
  return [...(runtime.args ?? []), '--root', runtime.root];
}

/** A task to remove from the runtime's state. `throwAway` removes its files. */
export type ForgottenTask = { id: string; hooks: boolean; throwAway: ThrowAway };

/**
 * Removes a task whose processes and cgroups no longer exist from the runtime's state. If the state files have a supported format,
 * they are removed directly, which saves starting the runtime. Tasks with hooks or in other formats are deleted by the runtime.
 */
export async function forgetTask(runtime: OciRuntime, task: ForgottenTask): Promise<void> {
  if (task.hooks || !removeStateFiles(runtime, task.id, task.throwAway))
    await runOciCommand(runtime, ['delete', '--force', task.id]);
}

/**
 * Starts a created task. If the state files have a supported format, this process releases the task itself, which saves starting the
 * runtime. Tasks with hooks or in other formats are started by the runtime.
 */
export async function startTask(runtime: OciRuntime, task: StartWait & { hooks: boolean }): Promise<void> {
  if (task.hooks || !(await startByStateFiles(runtime, task))) await runOciCommand(runtime, ['start', task.id]);
}

/** Whether a created task still waits for its start: by its state files if they have a supported format, else by the `state` command. */
export async function waitsForStart(runtime: OciRuntime, id: string): Promise<boolean> {
  const known = readStateFiles(runtime, id);
  return known?.waitsForStart ?? (await readOciStatus(runtime, id)) === 'created';
}

/** The status in the output of the runtime's `state` command (runtime-spec, runtime.md), or `paused`. */
export async function readOciStatus(runtime: OciRuntime, id: string): Promise<string> {
  const answer = stateSchema.safeParse(parseJson(await runOciCommand(runtime, ['state', id])));
  if (answer.success) return answer.data.status;
  throw new PodwrightError('internal', `${runtime.name} state ${id}: the output has no status`);
}

const stateSchema = z.object({ status: z.string() });

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
