import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { basename, isAbsolute, join } from 'node:path';
import { PodwrightError } from './errors.ts';
import { runProgram } from './program.ts';

/** Where daemons' programs are, beside PATH: a service's PATH is often short. */
const programDirectories = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** A program's version as it says it. */
export type ProgramFinding = { path: string; version: string };

/** The path of a program given by name or path, `undefined` if there is none that can be run. */
export async function findProgram(nameOrPath: string): Promise<string | undefined> {
  const fromPath = (process.env.PATH ?? '').split(':').filter(isAbsolute);
  const candidates = isAbsolute(nameOrPath)
    ? [nameOrPath]
    : [...fromPath, ...programDirectories].map((directory) => join(directory, nameOrPath));
  for (const path of candidates) if (await isProgram(path)) return path;
  return undefined;
}

/** As `findProgram`, with what to do about it if there is none: `failed_precondition`. */
export async function requireProgram(nameOrPath: string): Promise<string> {
  const path = await findProgram(nameOrPath);
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

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
