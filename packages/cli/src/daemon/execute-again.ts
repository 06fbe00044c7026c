import { existsSync, readFileSync } from 'node:fs';
import { daemonFlags } from './daemon-flags.ts';
import { environmentOf } from './process-environment.ts';

/**
 * Re-executes this process's program (execve(2)) with the same arguments and environment. The program file may contain a different version
 * by now. `directory` is where this process was started, for relative paths in the arguments. The caller must have closed everything.
 */
export function executeAgain(directory: string): never {
  const { isSea } = process.getBuiltinModule('node:sea');
  const program = isSea() ? [] : [...process.execArgv, process.argv[1]!];
  if (existsSync(directory)) process.chdir(directory);
  const environment = startEnvironment();
  if (isSea()) removeOwnFlags(environment);
  return process.execve!(process.execPath, [process.execPath, ...program, ...process.argv.slice(2)], environment);
}

/**
 * Returns the environment that this process was started with. Variables that must not be inherited by child processes, such as systemd's,
 * have since been removed from the current environment.
 */
function startEnvironment(): NodeJS.ProcessEnv {
  return environmentOf(readFileSync('/proc/self/environ', 'utf8').split('\0'));
}

/** Removes the V8 flags that the executable added to NODE_OPTIONS: the next version adds its own, which may differ. */
function removeOwnFlags(environment: NodeJS.ProcessEnv): void {
  const own = daemonFlags(process.argv.slice(2));
  const words = environment.NODE_OPTIONS?.split(' ') ?? [];
  environment.NODE_OPTIONS = words.filter((word) => !own.includes(word)).join(' ');
}
