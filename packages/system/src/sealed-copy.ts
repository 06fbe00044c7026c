import { closeSync, copyFileSync } from 'node:fs';
import type { System } from './system.ts';

/**
 * Copies a program into memory, where nobody can change it any more, root included. Returns the copy's descriptor, by which it can be
 * started (`/proc/<our pid>/fd/<descriptor>`); programs that are started do not inherit it.
 */
export function sealedCopy(system: System, program: string): number {
  const descriptor = system.makeMemoryFile('sealed');
  try {
    copyFileSync(program, `/proc/self/fd/${descriptor}`); // with its mode
    system.sealFile(descriptor);
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}
