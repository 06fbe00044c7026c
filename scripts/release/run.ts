import { type ExecFileSyncOptions, execFileSync } from 'node:child_process';

/** Runs a program of the host to its end. Throws an error with what it has written if it fails. */
export function run(program: string, args: string[], options: ExecFileSyncOptions = {}): string {
  return execFileSync(program, args, { maxBuffer: 2 ** 26, ...options, stdio: 'pipe', encoding: 'utf8' }) as string;
}
