import { accessSync, constants, statSync } from 'node:fs';
import { basename, isAbsolute, join } from 'node:path';
import { PodwrightError } from './errors.ts';
import { runProgram } from './program.ts';

/** Where daemons' programs are, beside PATH: a service's PATH is often short, and so is that of a root shell without a login. */
const PROGRAM_DIRECTORIES = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** Directories in which programs are sought: those of PATH, and those of daemons' programs. */
export function programDirectories(): string[] {
  const fromPath = (process.env.PATH ?? '').split(':').filter(isAbsolute);
  return [...new Set([...fromPath, ...PROGRAM_DIRECTORIES])];
}

/** A program's version as it says it. */
export type ProgramFinding = { path: string; version: string };

/**
 * The path of a program given by name or path, the first in `directories`; `undefined` if there is none that can be run. It looks
 * in a few directories of the host, in microseconds.
 */
export function findProgram(nameOrPath: string, directories: string[] = programDirectories()): string | undefined {
  if (isAbsolute(nameOrPath)) return isProgram(nameOrPath) ? nameOrPath : undefined;
  return directories.map((directory) => join(directory, nameOrPath)).find(isProgram);
}

/** As `findProgram`, with what to do about it if there is none: `failed_precondition`. */
export function requireProgram(nameOrPath: string): string {
  const path = findProgram(nameOrPath);
  if (path !== undefined) return path;
  throw new PodwrightError(
    'failed_precondition',
    `find the program ${nameOrPath}: it is not installed; install the package ${basename(nameOrPath)}, or give its path`,
  );
}

/** The version in the first line of `PROGRAM --version`, '' if it tells none. */
export async function readVersion(path: string): Promise<string> {
  const { stdout } = await runProgram(path, ['--version'], { signal: AbortSignal.timeout(10_000) });
  return / version (\S+)/.exec(stdout)?.[1] ?? '';
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
