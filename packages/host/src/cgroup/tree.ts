import { readdirSync, writeFileSync } from 'node:fs';
import { access, mkdir, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CONTAINER_DIRECTORY, isErrno, PodwrightError, sleep, wrapError } from '@podwright/base';
import { type CgroupHierarchy, type CgroupTree, cgroupDirectory, readCgroupFileSync, treeOf } from './hierarchy.ts';

/** A controller that the kernel refused to delegate to the children of a v2 cgroup. Its limits have no effect there. */
export type DelegationRefusal = { directory: string; controller: string; error: unknown };

/**
 * Creates cgroup `path` and its parents in every tree, ready to take processes. No error if it exists. Returns the controllers
 * that the kernel refused to delegate: the caller decides whether they matter.
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

/** Whether the cgroup exists in any tree. */
export async function cgroupExists(hierarchy: CgroupHierarchy, path: string): Promise<boolean> {
  const files = hierarchy.trees.map((tree) => join(cgroupDirectory(tree, path), 'cgroup.procs'));
  const found = await Promise.allSettled(files.map((file) => access(file)));
  return found.some(({ status }) => status === 'fulfilled');
}

/** Names of the cgroups directly below `path`, from all trees. */
export async function listChildCgroups(hierarchy: CgroupHierarchy, path: string): Promise<string[]> {
  const names = hierarchy.trees.flatMap((tree) => childDirectories(Buffer.from(cgroupDirectory(tree, path))));
  return [...new Set(names.map(String))].sort();
}

/**
 * Ids of the processes in the cgroup and, with `recursive`, in its descendants. Searches all trees; with `controller`, only the
 * tree that has this controller, if the host has it.
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

/** Number of processes in the cgroup and its descendants, counted in the tree of the `pids` controller if there is one. */
export function countCgroupProcesses(hierarchy: CgroupHierarchy, path: string): number {
  const tree = treeOf(hierarchy, 'pids');
  const trees = tree === undefined ? hierarchy.trees : [tree];
  const directories = trees.flatMap((one) => directoriesBottomUp(Buffer.from(cgroupDirectory(one, path))));
  return new Set(directories.flatMap(pidsIn)).size;
}

/**
 * Thaws the cgroup and its descendants in the v1 freezer, so that a SIGKILL that was already sent takes effect on the processes
 * there. In cgroup v2, SIGKILL takes effect on frozen processes, too. Does not thaw ancestors.
 */
export function thawForKill(hierarchy: CgroupHierarchy, path: string): void {
  const tree = treeOf(hierarchy, 'freezer');
  if (tree?.version !== 1) return;
  for (const directory of directoriesBottomUp(Buffer.from(cgroupDirectory(tree, path)))) thaw(directory);
}

/** Thaws one cgroup without reading its state first: a cgroup below a frozen parent may itself be set to frozen as well. */
function thaw(directory: Buffer): void {
  try {
    writeFileSync(below(directory, Buffer.from('freezer.state')), 'THAWED', { flag: 'r+' });
  } catch (error) {
    if (!isErrno(error, 'ENOENT') && !isErrno(error, 'ENODEV')) throw error;
  }
}

/**
 * Kills every process, even a frozen one, in the cgroup and its descendants until none is left. Rejects with `deadline_exceeded` if
 * some survive `timeoutMs` (default 10 s), as processes in an uninterruptible wait do. Refuses the root cgroup.
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
 * Removes the cgroup and its descendants from every tree. The kernel releases exited processes with a delay, so EBUSY is retried
 * for `timeoutMs` (default 2 s); after that, the call rejects with `failed_precondition`. No error if the cgroup does not exist.
 */
export async function removeCgroup(hierarchy: CgroupHierarchy, path: string, timeoutMs = 2_000): Promise<void> {
  refuseRoot(path);
  const deadline = performance.now() + timeoutMs;
  const removed = hierarchy.trees.map((tree) => removeDirectory(Buffer.from(cgroupDirectory(tree, path)), deadline));
  for (const result of await Promise.allSettled(removed)) if (result.status === 'rejected') throw result.reason;
}

/** Removes a cgroup. Lists its children only after EBUSY, as most cgroups have none. */
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

/** The directory and all its descendants, children before their parents. */
function directoriesBottomUp(directory: Buffer): Buffer[] {
  return [...childDirectories(directory).flatMap((name) => directoriesBottomUp(below(directory, name))), directory];
}

const below = (directory: Buffer, name: Buffer): Buffer => Buffer.concat([directory, Buffer.from('/'), name]);

/** Names of the child cgroups, as buffers, because containers may create cgroups whose names are not UTF-8. */
function childDirectories(directory: Buffer): Buffer[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true, encoding: 'buffer' });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return [];
    throw error;
  }
}

/** The directories of `path` and its ancestors below the root, top down. */
function levelsBelow(tree: CgroupTree, path: string): string[] {
  const names = path.split('/').filter((name) => name !== '');
  return names.map((_, index) => join(tree.mountPoint, ...names.slice(0, index + 1)));
}

/** Enables every controller of a v2 cgroup for its children, with one write per controller, as the kernel may refuse some of them. */
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

/** Copies the parent's CPUs and memory nodes. A new v1 cpuset has none, and accepts no processes until it has some. */
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
  // 0 means a process outside this process's PID namespace
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
