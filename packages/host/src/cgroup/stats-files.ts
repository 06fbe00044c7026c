import { join } from 'node:path';
import { namesInSync } from '../files/directory-sync.ts';
import { type CgroupHierarchy, type CgroupTree, cgroupDirectory, readCgroupFileSync, treeOf } from './hierarchy.ts';

/**
 * The files of one cgroup in one hierarchy. They are read synchronously: the kernel generates them from memory, and collecting the stats of
 * all pods takes thousands of reads, each of which took ten times as long in the thread pool.
 */
export type StatsFiles = {
  version: 1 | 2;
  /** Returns a cgroup file's text; '' if the file does not exist. */
  read(name: string): string;
  /** Returns the number in a cgroup file; `undefined` if the file does not exist or contains `max`. */
  readNumber(name: string): number | undefined;
  /** Returns the names of the cgroup's files; empty if the cgroup does not exist. */
  names(): string[];
};

/** Returns the cgroup's files in the hierarchy of `controller`; `undefined` if the host lacks that controller. */
export function statsFilesOf(hierarchy: CgroupHierarchy, path: string, controller: string): StatsFiles | undefined {
  const tree = treeOf(hierarchy, controller);
  return tree && statsFilesIn(tree, path);
}

/** Returns the cgroup's files in the given hierarchy. */
export function statsFilesIn(tree: CgroupTree, path: string): StatsFiles {
  const directory = cgroupDirectory(tree, path);
  const read = (name: string) => readCgroupFileSync(join(directory, name)) ?? '';
  return {
    version: tree.version,
    read,
    readNumber: (name) => number(read(name)),
    names: () => namesInSync(directory),
  };
}

/** Parses lines of the form `name value`. */
export function keyed(text: string): Record<string, number | undefined> {
  return Object.fromEntries(
    text
      .split('\n')
      .map((line) => line.split(' '))
      .map(([key, value]) => [key, Number(value)]),
  );
}

/**
 * Converts a v1 limit. Returns `undefined` if it is unlimited, which v1 reports as a huge number (the largest multiple of the page size).
 */
export const bounded = (limit: number | undefined): number | undefined =>
  limit !== undefined && limit < 2 ** 62 ? limit : undefined;

function number(text: string): number | undefined {
  return /^\d+$/.test(text.trim()) ? Number(text) : undefined;
}
