import { closeSync, openSync } from 'node:fs';
import { errorMessage, PodwrightError } from '@podwright/base';
import { wrapFileError } from './errno.ts';
import { mountFlags } from './mount-options.ts';
import type { NamespaceDependencies } from './namespaces.ts';
import type { System } from './system.ts';

/** Constants from linux/sched.h. */
const CLONE_FS = 0x200;
const CLONE_NEWNS = 0x20000;

/**
 * Creates a copy of this thread's mount namespace with an empty tmpfs mounted over `directory`, which must be a mount point. The namespace
 * exists as long as the returned descriptor is open or any process is in it. Its mounts do not propagate to other namespaces. As with
 * `createNamespaces`, the main thread leaves its own namespace only during this call; if it cannot return, the process is aborted.
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
 * Calls `work` with the main thread in another mount namespace. `work` must be synchronous and must not start a thread, not even with an
 * asynchronous node:fs call, because that thread would stay in the namespace.
 */
export function withMountNamespace<T>(dependencies: NamespaceDependencies, descriptor: number, work: () => T): T {
  return inOtherMounts(dependencies, () => {
    dependencies.system.setNamespace(descriptor, CLONE_NEWNS);
    const result = work();
    if (result instanceof Promise)
      throw new PodwrightError('internal', 'run work in a mount namespace: it must be synchronous');
    return result;
  });
}

/** Descriptors for undoing the effects of setns(2) on a thread. */
type Home = { namespace: number; root: number; directory: number };

function inOtherMounts<T>({ system, logger }: NamespaceDependencies, work: () => T): T {
  const opened: number[] = [];
  const open = (path: string) => {
    opened.push(openSync(path, 'r'));
    return opened.at(-1)!;
  };
  try {
    const home: Home = { namespace: open('/proc/thread-self/ns/mnt'), root: open('/'), directory: open('.') };
    // Threads share their root and working directory until this call, and the kernel refuses setns(2) for such threads.
    system.unshare(CLONE_FS);
    returnHome(system, home); // fail here, before anything is changed, if the thread could not return
    try {
      return work();
    } finally {
      try {
        returnHome(system, home);
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

function returnHome(system: System, { namespace, root, directory }: Home): void {
  system.setNamespace(namespace, CLONE_NEWNS);
  system.changeDirectory(root);
  system.makeDirectoryRoot();
  system.changeDirectory(directory);
}
