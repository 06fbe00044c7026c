import { spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

/**
 * How to start a program. `stdio` specifies for each file descriptor whether it is a pipe to this process, /dev/null, or a file descriptor
 * of this process.
 */
export type StartOptions = {
  cwd?: string;
  env: NodeJS.ProcessEnv;
  stdio: ('pipe' | 'ignore' | number)[];
  /** Starts the program in a new session (setsid(2)). */
  detached?: boolean;
  /**
   * Wraps the call that starts the program, for example to switch the thread's namespaces around it; the program inherits them. Must call
   * `start` synchronously.
   */
  within?: <T>(start: () => T) => T;
};

/** A started program: the subset of node:child_process's ChildProcess that callers use. */
export interface StartedProgram {
  /** `undefined` if the program could not be started; the `error` event carries the reason. */
  readonly pid?: number | undefined;
  readonly exitCode: number | null;
  readonly signalCode: NodeJS.Signals | null;
  /** This process's ends of the pipes, indexed by the program's file descriptor. The first is writable, the others are readable. */
  readonly stdio: readonly (Readable | Writable | null | undefined)[];
  kill(signal?: NodeJS.Signals): boolean;
  /**
   * `exit`: the program has exited. `close`: its pipes have been closed as well. The listener receives the exit code, or the signal that
   * killed the program.
   */
  on(event: 'exit' | 'close', listener: (exitCode: number | null, signal: NodeJS.Signals | null) => void): this;
  on(event: 'error', listener: (error: Error) => void): this;
  once(event: 'exit' | 'close', listener: (exitCode: number | null, signal: NodeJS.Signals | null) => void): this;
  once(event: 'error', listener: (error: Error) => void): this;
}

/** Starts a program without a shell. */
export type ProgramStarter = (file: string, args: string[], options: StartOptions) => StartedProgram;

/** Starts programs with node:child_process. */
export const startByFork: ProgramStarter = (file, args, { within = (start) => start(), ...options }) =>
  within(() => spawn(file, args, options));
