import { closeSync, openSync } from 'node:fs';
import { errorMessage, PodwrightError } from '@podwright/base';
import { wrapFileError } from './errno.ts';
import { mountFlags } from './mount-options.ts';
import type { NamespaceDependencies } from './namespaces.ts';
import type { System } from './system.ts';

/** linux/sched.h */
const CLONE_FS = 0x200;
const CLONE_NEWNS = 0x20000;

/**
 * Makes a mount namespace as this thread's is, but for an empty file system over `directory`, which must be a mount point. It
 * lives as long as the descriptor that is returned, or a process in it. Nothing is changed in the namespaces of others: what
 * is mounted here is propagated nowhere. As with `createNamespaces`, the main thread is away only within this call, and the
 * process is aborted if it cannot come back.
 */
export function createCoveredNamespace(dependencies: NamespaceDependencies, directory: string): number {
  const { system } = dependencies;
  return inOtherMounts(dependencies, () => {
    system.unshare(CLONE_NEWNS);
    system.mount(directory, { flags: mountFlags.private });
    system.mount(directory, { source: 'tmpfs', type: 'tmpfs', flags: 0 });
    return openSync('/proc/thread-self/ns/mnt', 'r');
  });
}

/**
 * Calls `work` with the main thread in a mount namespace. It must be done when it returns, and start no thread, which would
 * stay there: not even a call of node:fs that is not synchronous.
 */
export function withMountNamespace<T>(dependencies: NamespaceDependencies, descriptor: number, work: () => T): T {
  return inOtherMounts(dependencies, () => {
    dependencies.system.setNamespace(descriptor, CLONE_NEWNS);
    const result = work();
    if (result instanceof Promise) throw new PodwrightError('internal', 'work in mounts: it must be synchronous');
    return result;
  });
}

/** Descriptors of what setns(2) changes of a thread. */
type Home = { namespace: number; root: number; directory: number };

function inOtherMounts<T>({ system, logger }: NamespaceDependencies, work: () => T): T {
  const opened: number[] = [];
  const open = (path: string) => {
    opened.push(openSync(path, 'r'));
    return opened.at(-1)!;
  };
  try {
    const home: Home = { namespace: open('/proc/thread-self/ns/mnt'), root: open('/'), directory: open('.') };
    // Root and working directory are one for all threads until then, and the kernel moves none that shares them.
    system.unshare(CLONE_FS);
    goHome(system, home); // what refuses the way back is to do so before it is needed
    try {
      return work();
    } finally {
      try {
        goHome(system, home);
      } catch (error) {
        logger.error({ error: errorMessage(error) }, 'cannot return to the mounts of the host, aborting');
        process.abort();
      }
    }
  } catch (error) {
    throw wrapFileError('enter a mount namespace', error);
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

function goHome(system: System, { namespace, root, directory }: Home): void {
  system.setNamespace(namespace, CLONE_NEWNS);
  system.changeDirectory(root);
  system.makeDirectoryRoot();
  system.changeDirectory(directory);
}
