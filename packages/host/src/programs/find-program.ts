import { accessSync, constants, statSync } from 'node:fs';
import { basename, isAbsolute, join } from 'node:path';
import { PodwrightError } from '@podwright/base';
import { runProgram } from './program.ts';

/** Directories searched after PATH, which often lacks them in services and in root's non-login shells. */
const PROGRAM_DIRECTORIES = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** Returns the directories to search for programs: the absolute ones in PATH, then the usual system directories. */
export function programDirectories(): string[] {
  const fromPath = (process.env.PATH ?? '').split(':').filter(isAbsolute);
  return [...new Set([...fromPath, ...PROGRAM_DIRECTORIES])];
}

/** A program that was found, and the version that it reported. */
export type ProgramFinding = { path: string; version: string };

/**
 * Returns the path of a program given by name or absolute path: the first executable file in `directories`, or `undefined` if there is
 * none. Synchronous, because it takes only microseconds.
 */
export function findProgram(nameOrPath: string, directories: string[] = programDirectories()): string | undefined {
  if (isAbsolute(nameOrPath)) return isProgram(nameOrPath) ? nameOrPath : undefined;
  return directories.map((directory) => join(directory, nameOrPath)).find(isProgram);
}

/** Like `findProgram`, but if there is no such program, throws `failed_precondition` with a message that explains how to fix it. */
export function requireProgram(nameOrPath: string): string {
  const path = findProgram(nameOrPath);
  if (path !== undefined) return path;
  throw new PodwrightError(
    'failed_precondition',
    `find the program ${nameOrPath}: it is not installed; install the package ${basename(nameOrPath)}, or give its path`,
  );
}

/** Runs `PROGRAM --version` and returns the version from its output; '' if the output contains none. */
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
