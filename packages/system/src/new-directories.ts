import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseMountsBelow, readMountinfo, unmountOnce } from './mountinfo.ts';
import type { System } from './system.ts';

/**
 * Returns a function that undoes everything created under `directory` since this call: it unmounts new mounts, and removes new directories
 * directly under it. If a file system cannot be unmounted, it throws without removing anything. `directory` must be absolute and free of
 * symbolic links.
 */
export function newDirectoriesRemover(system: System, directory: string): () => void {
  const directories = new Set(subdirectories(directory));
  const mounts = new Set(mountPoints(directory));
  return () => {
    for (const path of mountPoints(directory).reverse()) if (!mounts.has(path)) unmountOnce(system, path);
    for (const name of subdirectories(directory))
      if (!directories.has(name)) rmSync(join(directory, name), { recursive: true, force: true });
  };
}

const mountPoints = (directory: string): string[] =>
  parseMountsBelow(directory, readMountinfo()).map(({ mountPoint }) => mountPoint);

const subdirectories = (directory: string): string[] =>
  readdirSync(directory, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? entry.name : []));
