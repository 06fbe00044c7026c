import { existsSync, readFileSync } from 'node:fs';
import { daemonFlags } from './daemon-flags.ts';
import { environmentOf } from './process-environment.ts';

/**
 * Replaces this process by a start of its program with the same arguments and environment (execve(2)); the program's file may be of
 * another version now. `directory` is the one in which this process was started, for relative paths in the arguments. Everything must
 * be closed before.
 */
export function executeAgain(directory: string): never {
  const { isSea } = process.getBuiltinModule('node:sea');
  const program = isSea() ? [] : [...process.execArgv, process.argv[1]!];
  if (existsSync(directory)) process.chdir(directory);
  const environment = startEnvironment();
  if (isSea()) removeOwnFlags(environment);
  return process.execve!(process.execPath, [process.execPath, ...program, ...process.argv.slice(2)], environment);
}

/** The environment of the start: this process has removed variables that are not for its children, such as those of systemd. */
function startEnvironment(): NodeJS.ProcessEnv {
  return environmentOf(readFileSync('/proc/self/environ', 'utf8').split('\0'));
}

/** The executable has added its V8 flags to NODE_OPTIONS; another version may have other ones, and adds its own. */
function removeOwnFlags(environment: NodeJS.ProcessEnv): void {
  const own = daemonFlags(process.argv.slice(2));
  const words = environment.NODE_OPTIONS?.split(' ') ?? [];
  environment.NODE_OPTIONS = words.filter((word) => !own.includes(word)).join(' ');
}
