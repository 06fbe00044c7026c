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

/** An OCI runtime's command-line program. */
export type OciProgram = {
  /** runc, crun, or another OCI runtime's base name. Also the name of its state directory. */
  name: string;
  /** Path of the program to start: the OCI runtime itself, or a wrapper that execs it. */
  path: string;
  /** Arguments that precede the OCI runtime's own. If `path` is a wrapper, the last one is the OCI runtime's path. */
  args?: string[];
  /** Format of the OCI runtime's state files, if supported and verified by a trial. */
  stateFormat?: StateFormat | undefined;
  /**
   * A faster way to start the OCI runtime than `path` and `args`, for create and exec (`covered-call.ts`). Earlier versions of Podwright
   * use only `path` and `args`, so records still contain them.
   */
  covered?: CoveredTree | undefined;
};

/** How to run the OCI runtime at `path`, which needs a mount namespace where the cgroup hierarchy mounted at `tree` is covered. */
export type CoveredTree = { tree: string; path: string; nsenter: string };

/** An OCI runtime's program, and its state directory (`--root`). */
export type OciRuntime = OciProgram & { root: string };

/** The shell used by wrappers. Its arguments end with `-c`, a script, and the OCI runtime's path. */
export const SHELL = '/bin/sh';

/** Runs an OCI runtime command and returns its output. On failure, throws the OCI runtime's error message with a matching error code. */
export async function runOciCommand(runtime: OciRuntime, args: string[], start = startByFork): Promise<string> {
  using signal = withTimeout(undefined, COMMAND_TIMEOUT_MS, runtime.name);
  const result = await runProgram(runtime.path, [...globalArguments(runtime), ...args], { signal, start });
  if (result.exitCode === 0) return result.stdout;
  throw runtimeError(`${runtime.name} ${args.join(' ')}`, result.stderr);
}

/**
 * Returns a runtime that sets `oom_score_adj` for `exec` processes. runc sets it itself, but crun (at least up to 1.29) does so only for
 * the container's init process: exec processes would inherit the value by which the daemon's systemd unit protects the daemon from the OOM
 * killer, and would be killed last. The wrapper costs half a millisecond. If this process may not set the value, the OCI runtime starts
 * without it.
 */
export function withOomScore(runtime: OciRuntime, oomScoreAdj: number | undefined): OciRuntime {
  if (runtime.name === 'runc' || oomScoreAdj === undefined) return runtime;
  const { path, args = [] } = runtime;
  const set = `echo ${oomScoreAdj} 2>/dev/null >/proc/self/oom_score_adj`;
  const [shell, option, script, ...words] = args.slice(-4);
  // if the OCI runtime is already started through a shell, set oom_score_adj in that shell
  if (shell === SHELL && option === '-c')
    return { ...runtime, args: [...args.slice(0, -4), shell, option, `${set}; ${script}`, ...words] };
  return { ...runtime, path: SHELL, args: ['-c', `${set}; exec "$0" "$@"`, path, ...args] };
}

/**
 * Returns a runtime that gets a pipe in place of /dev/null when it creates a container in a user namespace. The caller passes /dev/null as
 * stdin or, if `terminal` is set, as all of stdio; crun (unlike runc) would change the owner of the host's /dev/null to the namespace's
 * root. If `terminal` is set, the pipe is the FIFO `stdio` in crun's working directory; the terminal replaces stdio in the container.
 */
export function withoutHostNull(runtime: OciRuntime, { terminal }: { terminal: boolean }): OciRuntime {
  if (runtime.name === 'runc') return runtime;
  const script = terminal ? 'mkfifo stdio && exec "$0" "$@" 0<>stdio 1>&0 2>&0' : ': | exec "$0" "$@"';
  return { ...runtime, path: SHELL, args: ['-c', script, runtime.path, ...(runtime.args ?? [])] };
}

/** Returns the arguments that come before the OCI runtime's command. */
export function globalArguments(runtime: OciRuntime): string[] {
  return [...(runtime.args ?? []), '--root', runtime.root];
}

/** A task to remove from the OCI runtime's state. `throwAway` removes its files. */
export type ForgottenTask = { id: string; hooks: boolean; throwAway: ThrowAway };

/**
 * Removes a task from the OCI runtime's state after its processes and cgroups are gone. Deletes state files in a supported format directly,
 * to avoid running the OCI runtime; tasks with hooks or in an unknown format are deleted by the OCI runtime.
 */
export async function forgetTask(runtime: OciRuntime, task: ForgottenTask): Promise<void> {
  if (task.hooks || !removeStateFiles(runtime, task.id, task.throwAway))
    await runOciCommand(runtime, ['delete', '--force', task.id]);
}

/**
 * Starts a created task. If the state files have a supported format, this process releases the task itself, to avoid running the OCI
 * runtime; tasks with hooks or in an unknown format are started by the OCI runtime.
 */
export async function startTask(runtime: OciRuntime, task: StartWait & { hooks: boolean }): Promise<void> {
  if (task.hooks || !(await startByStateFiles(runtime, task))) await runOciCommand(runtime, ['start', task.id]);
}

/**
 * Whether a created task is still waiting to be started, according to its state files or, if their format is not supported, the `state`
 * command.
 */
export async function waitsForStart(runtime: OciRuntime, id: string): Promise<boolean> {
  const known = readStateFiles(runtime, id);
  return known?.waitsForStart ?? (await readOciStatus(runtime, id)) === 'created';
}

/** Returns the status reported by the OCI runtime's `state` command (runtime-spec, runtime.md), which can also be `paused`. */
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
