import { join } from 'node:path';
import { namesInSync } from '../directory-sync.ts';
import { type CgroupHierarchy, type CgroupTree, cgroupDirectory, readCgroupFileSync, treeOf } from './hierarchy.ts';

/**
 * The files of one cgroup in one tree. They are in the kernel's memory, and a look at all pods reads thousands: by way of the thread
 * pool each took ten times as long.
 */
export type StatsFiles = {
  version: 1 | 2;
  /** A file's text, '' if it is not there. */
  read(name: string): string;
  /** A file of one number; `undefined` without the file, and for `max`. */
  readNumber(name: string): number | undefined;
  /** Names of the files, none if the cgroup is gone. */
  names(): string[];
};

/** The cgroup's files in the tree that has `controller`; `undefined` if the host lacks it. */
export function statsFilesOf(hierarchy: CgroupHierarchy, path: string, controller: string): StatsFiles | undefined {
  const tree = treeOf(hierarchy, controller);
  return tree && statsFilesIn(tree, path);
}

/** The cgroup's files in this tree. */
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

/** A file of `name value` lines. */
export function keyed(text: string): Record<string, number | undefined> {
  return Object.fromEntries(
    text
      .split('\n')
      .map((line) => line.split(' '))
      .map(([key, value]) => [key, Number(value)]),
  );
}

/** v1 writes a huge number, the largest multiple of the page size, for no limit. */
export const bounded = (limit: number | undefined): number | undefined =>
  limit !== undefined && limit < 2 ** 62 ? limit : undefined;

function number(text: string): number | undefined {
  return /^\d+$/.test(text.trim()) ? Number(text) : undefined;
}
