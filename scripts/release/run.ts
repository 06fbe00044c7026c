import { type ExecFileSyncOptions, execFileSync } from 'node:child_process';

/** Runs a host program to completion. If it fails, throws an error containing its output. */
export function run(program: string, args: string[], options: ExecFileSyncOptions = {}): string {
  return execFileSync(program, args, { maxBuffer: 2 ** 26, ...options, stdio: 'pipe', encoding: 'utf8' }) as string;
}
