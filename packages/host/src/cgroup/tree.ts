import { readdirSync, writeFileSync } from 'node:fs';
import { access, mkdir, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CONTAINER_DIRECTORY, isErrno, PodwrightError, sleep, wrapError } from '@podwright/base';
import { type CgroupHierarchy, type CgroupTree, cgroupDirectory, readCgroupFileSync, treeOf } from './hierarchy.ts';

/** A controller that the kernel refused to enable for the children of a v2 cgroup. Limits for that controller have no effect there. */
export type DelegationRefusal = { directory: string; controller: string; error: unknown };

/**
 * Creates the cgroup `path` and its ancestors in every hierarchy, ready for processes to be added. Not an error if it already exists.
 * Returns the controllers that the kernel refused to enable; the caller decides whether they matter.
 */
export async function createCgroup(hierarchy: CgroupHierarchy, path: string): Promise<DelegationRefusal[]> {
  const refusals: DelegationRefusal[] = [];
  for (const tree of hierarchy.trees) {
    const directory = cgroupDirectory(tree, path);
    await mkdir(directory, { recursive: true, mode: CONTAINER_DIRECTORY });
    for (const level of levelsBelow(tree, path)) {
      if (tree.version === 2) refusals.push(...(await delegateControllers(dirname(level))));
      else if (tree.controllers.includes('cpuset')) await inheritCpuset(level);
    }
  }
  return refusals;
}

/** Whether the cgroup exists in any of the host's hierarchies. */
export async function cgroupExists(hierarchy: CgroupHierarchy, path: string): Promise<boolean> {
  const files = hierarchy.trees.map((tree) => join(cgroupDirectory(tree, path), 'cgroup.procs'));
  const found = await Promise.allSettled(files.map((file) => access(file)));
  return found.some(({ status }) => status === 'fulfilled');
}

/** Returns the names of the direct child cgroups of `path` in all hierarchies. */
export async function listChildCgroups(hierarchy: CgroupHierarchy, path: string): Promise<string[]> {
  const names = hierarchy.trees.flatMap((tree) => childDirectories(Buffer.from(cgroupDirectory(tree, path))));
  return [...new Set(names.map(String))].sort();
}

/**
 * Returns the PIDs of the processes in the cgroup and, if `recursive` is set, in its descendants. Searches all hierarchies; if `controller`
 * is set and the host has that controller, searches only its hierarchy.
 */
export async function cgroupPids(
  hierarchy: CgroupHierarchy,
  path: string,
  options: { recursive: boolean; controller?: string },
): Promise<number[]> {
  const one = options.controller === undefined ? undefined : treeOf(hierarchy, options.controller);
  const directories = (one === undefined ? hierarchy.trees : [one]).flatMap((tree) => {
    const top = Buffer.from(cgroupDirectory(tree, path));
    return options.recursive ? directoriesBottomUp(top) : [top];
  });
  return [...new Set(directories.flatMap(pidsIn))];
}

/** Returns the number of processes in the cgroup and its descendants, counted in the `pids` controller's hierarchy if there is one. */
export function countCgroupProcesses(hierarchy: CgroupHierarchy, path: string): number {
  const tree = treeOf(hierarchy, 'pids');
  const trees = tree === undefined ? hierarchy.trees : [tree];
  const directories = trees.flatMap((one) => directoriesBottomUp(Buffer.from(cgroupDirectory(one, path))));
  return new Set(directories.flatMap(pidsIn)).size;
}

/**
 * Thaws the cgroup and its descendants in the v1 freezer, so that a SIGKILL already sent to their processes takes effect. In cgroup v2,
 * SIGKILL also takes effect on frozen processes. Does not thaw ancestors.
 */
export function thawForKill(hierarchy: CgroupHierarchy, path: string): void {
  const tree = treeOf(hierarchy, 'freezer');
  if (tree?.version !== 1) return;
  for (const directory of directoriesBottomUp(Buffer.from(cgroupDirectory(tree, path)))) thaw(directory);
}

/**
 * Thaws one cgroup without checking `freezer.state` first: under a frozen parent, that file does not show whether the cgroup itself is
 * frozen as well.
 */
function thaw(directory: Buffer): void {
  try {
    writeFileSync(below(directory, Buffer.from('freezer.state')), 'THAWED', { flag: 'r+' });
  } catch (error) {
    if (!isErrno(error, 'ENOENT') && !isErrno(error, 'ENODEV')) throw error;
  }
}

/**
 * Kills all processes in the cgroup and its descendants, including frozen ones, until none are left. Rejects with `deadline_exceeded` if
 * any survive for `timeoutMs` (default 10 s), as processes in uninterruptible sleep do. Refuses to kill the root cgroup.
 */
export async function killCgroup(hierarchy: CgroupHierarchy, path: string, timeoutMs = 10_000): Promise<void> {
  refuseRoot(path);
  const deadline = performance.now() + timeoutMs;
  for (let delayMs = 1; ; delayMs = Math.min(delayMs * 2, 50)) {
    const pids = await cgroupPids(hierarchy, path, { recursive: true });
    if (pids.length === 0) return;
    for (const pid of pids) killProcess(pid);
    thawForKill(hierarchy, path);
    if (performance.now() > deadline)
      throw new PodwrightError('deadline_exceeded', `kill cgroup ${path}: processes ${pids.join(', ')} do not end`);
    await sleep(delayMs);
  }
}

/**
 * Removes the cgroup and its descendants from every hierarchy. The kernel releases exited processes with a delay, so EBUSY is retried for
 * `timeoutMs` (default 2 s); after that, rejects with `failed_precondition`. Not an error if the cgroup does not exist.
 */
export async function removeCgroup(hierarchy: CgroupHierarchy, path: string, timeoutMs = 2_000): Promise<void> {
  refuseRoot(path);
  const deadline = performance.now() + timeoutMs;
  const removed = hierarchy.trees.map((tree) => removeDirectory(Buffer.from(cgroupDirectory(tree, path)), deadline));
  for (const result of await Promise.allSettled(removed)) if (result.status === 'rejected') throw result.reason;
}

/** Removes a cgroup. Lists its children only after EBUSY, because most cgroups have none. */
async function removeDirectory(directory: Buffer, deadline: number): Promise<void> {
  for (let delayMs = 1; ; delayMs = Math.min(delayMs * 2, 50)) {
    try {
      return await rmdir(directory);
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return;
      if (!isErrno(error, 'EBUSY')) throw wrapError(`remove cgroup ${directory}`, error, 'internal');
      const children = childDirectories(directory);
      for (const name of children) await removeDirectory(below(directory, name), deadline);
      if (performance.now() > deadline)
        throw wrapError(`remove cgroup ${directory}: it is still in use`, error, 'failed_precondition');
      if (children.length === 0) await sleep(delayMs);
    }
  }
}

function directoriesBottomUp(directory: Buffer): Buffer[] {
  return [...childDirectories(directory).flatMap((name) => directoriesBottomUp(below(directory, name))), directory];
}

const below = (directory: Buffer, name: Buffer): Buffer => Buffer.concat([directory, Buffer.from('/'), name]);

/** Returns the names of a cgroup's children, as buffers because containers can create cgroups whose names are not UTF-8. */
function childDirectories(directory: Buffer): Buffer[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true, encoding: 'buffer' });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return [];
    throw error;
  }
}

/** Returns the directories of `path` and its ancestors, top down, excluding the root. */
function levelsBelow(tree: CgroupTree, path: string): string[] {
  const names = path.split('/').filter((name) => name !== '');
  return names.map((_, index) => join(tree.mountPoint, ...names.slice(0, index + 1)));
}

/**
 * Enables all available controllers for the children of a v2 cgroup, one write per controller because the kernel might refuse some of them.
 */
async function delegateControllers(directory: string): Promise<DelegationRefusal[]> {
  const refusals: DelegationRefusal[] = [];
  const available = readCgroupFileSync(join(directory, 'cgroup.controllers'))?.trim().split(/\s+/) ?? [];
  const enabled = readCgroupFileSync(join(directory, 'cgroup.subtree_control'))?.trim().split(/\s+/) ?? [];
  for (const controller of available.filter((name) => name !== '' && !enabled.includes(name))) {
    try {
      await writeFile(join(directory, 'cgroup.subtree_control'), `+${controller}`);
    } catch (error) {
      refusals.push({ directory, controller, error });
    }
  }
  return refusals;
}

/** Copies the parent's CPUs and memory nodes to a new v1 cpuset, which has none and does not accept processes until it has both. */
async function inheritCpuset(directory: string): Promise<void> {
  for (const name of ['cpuset.cpus', 'cpuset.mems']) {
    const own = readCgroupFileSync(join(directory, name));
    const inherited = readCgroupFileSync(join(dirname(directory), name));
    if (own?.trim() === '' && inherited !== undefined) await writeFile(join(directory, name), inherited.trim());
  }
}

function pidsIn(directory: Buffer): number[] {
  return parsePids(readCgroupFileSync(below(directory, Buffer.from('cgroup.procs'))));
}

function parsePids(text = ''): number[] {
  // drop PID 0, which the kernel shows for processes outside this process's PID namespace
  return text
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 0);
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!isErrno(error, 'ESRCH')) throw error;
  }
}

function refuseRoot(path: string): void {
  if (path === '/' || path === '')
    throw new PodwrightError('invalid_argument', 'refusing to kill or remove the root cgroup');
}
