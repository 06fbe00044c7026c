import { accessSync, constants, statSync } from 'node:fs';
import { basename, isAbsolute, join } from 'node:path';
import { PodwrightError } from '@podwright/base';
import { runProgram } from './program.ts';

/** Directories searched after PATH, which often lacks them for services and for root shells that are not login shells. */
const PROGRAM_DIRECTORIES = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** Directories in which programs are looked up: the absolute ones of PATH, then the usual system directories. */
export function programDirectories(): string[] {
  const fromPath = (process.env.PATH ?? '').split(':').filter(isAbsolute);
  return [...new Set([...fromPath, ...PROGRAM_DIRECTORIES])];
}

/** A program that was found, and the version that it reports. */
export type ProgramFinding = { path: string; version: string };

/**
 * The path of a program given by name or absolute path: the first executable file in `directories`; `undefined` if there is none.
 * Synchronous, because it takes only microseconds.
 */
export function findProgram(nameOrPath: string, directories: string[] = programDirectories()): string | undefined {
  if (isAbsolute(nameOrPath)) return isProgram(nameOrPath) ? nameOrPath : undefined;
  return directories.map((directory) => join(directory, nameOrPath)).find(isProgram);
}

/** Like `findProgram`, but throws `failed_precondition` if there is none, with a message that explains how to fix it. */
export function requireProgram(nameOrPath: string): string {
  const path = findProgram(nameOrPath);
  if (path !== undefined) return path;
  throw new PodwrightError(
    'failed_precondition',
    `find the program ${nameOrPath}: it is not installed; install the package ${basename(nameOrPath)}, or give its path`,
  );
}

/** The version in the output of `PROGRAM --version`, '' if it contains none. */
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
