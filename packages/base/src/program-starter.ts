import { spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

/** How a program is started. `stdio` per descriptor: a pipe to us, /dev/null, or a descriptor of ours. */
export type StartOptions = {
  cwd?: string;
  env: NodeJS.ProcessEnv;
  stdio: ('pipe' | 'ignore' | number)[];
  /** In a session of its own (setsid). */
  detached?: boolean;
  /** Calls what starts the program, at once: it is born in the namespaces in which the thread is then. */
  within?: <T>(start: () => T) => T;
};

/** A program that was started, as node:child_process shows it. */
export interface StartedProgram {
  /** `undefined` if it could not be started; the event `error` tells why. */
  readonly pid?: number | undefined;
  readonly exitCode: number | null;
  readonly signalCode: NodeJS.Signals | null;
  /** The pipes' ends, by descriptor: the first is written to, the others are read. */
  readonly stdio: readonly (Readable | Writable | null | undefined)[];
  kill(signal?: NodeJS.Signals): boolean;
  /** `exit` when it has ended, `close` when its pipes are closed too; with its exit code, or the signal that killed it. */
  on(event: 'exit' | 'close', listener: (exitCode: number | null, signal: NodeJS.Signals | null) => void): this;
  on(event: 'error', listener: (error: Error) => void): this;
  once(event: 'exit' | 'close', listener: (exitCode: number | null, signal: NodeJS.Signals | null) => void): this;
  once(event: 'error', listener: (error: Error) => void): this;
}

/** Starts a program without a shell. */
export type ProgramStarter = (file: string, args: string[], options: StartOptions) => StartedProgram;

/** Starts programs as node:child_process does. */
export const startByFork: ProgramStarter = (file, args, { within = (start) => start(), ...options }) =>
  within(() => spawn(file, args, options));
