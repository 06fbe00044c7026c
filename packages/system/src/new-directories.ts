import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { unmountTree } from './mountinfo.ts';
import type { System } from './system.ts';

/**
 * Returns a function that removes the directories that have been created in `directory` since this call, after unmounting everything at and
 * below them. If a file system cannot be unmounted, it throws and removes nothing that is mounted.
 */
export function newDirectoriesRemover(system: System, directory: string): () => void {
  const existing = new Set(subdirectories(directory));
  return () => {
    for (const name of subdirectories(directory)) {
      if (existing.has(name)) continue;
      const path = join(directory, name);
      unmountTree(system, path);
      rmSync(path, { recursive: true, force: true });
    }
  };
}

const subdirectories = (directory: string): string[] =>
  readdirSync(directory, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? entry.name : []));
