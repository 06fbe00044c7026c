import { closeSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage, type Logger, PodwrightError } from '@podwright/base';
import { wrapFileError } from './errno.ts';
import { mountFlags } from './mount-options.ts';
import { readMounts, unmountOnce } from './mountinfo.ts';
import type { System } from './system.ts';

type NamespaceKind = 'net' | 'ipc' | 'uts';

const cloneFlags: Record<NamespaceKind, number> = { net: 0x40000000, ipc: 0x08000000, uts: 0x04000000 };
const kinds: NamespaceKind[] = ['net', 'ipc', 'uts'];

/** Which namespaces to make, each with the file that pins it, and how to set them up. */
export type NamespaceRequest = {
  net?: string;
  ipc?: string;
  uts?: string;
  /** Host name inside the new UTS namespace; needs `uts`. */
  hostname?: string;
  /** `net.ipv4.ip_forward` → `1`; only those that belong to the namespaces that are made. */
  sysctls?: Record<string, string>;
};

/** What the functions here work with. */
export type NamespaceDependencies = { system: System; logger: Logger };

/** Makes `directory`, and makes it a private mount: pins in it then stay out of every other mount namespace. */
export function preparePinDirectory(system: System, directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o711 });
  if (!readMounts().some(({ mountPoint }) => mountPoint === directory)) {
    system.mount(directory, { source: directory, flags: mountFlags.bind });
  }
  system.mount(directory, { flags: mountFlags.private });
}

/**
 * Makes namespaces without a process in them: each lives as long as its pin file is mounted (`removeNamespace`). Nothing is
 * left on failure. The main thread is in the new namespaces for about a millisecond, within this call: nothing else can run
 * on it meanwhile, and no other thread is touched. If it cannot come back, the process is aborted.
 */
export function createNamespaces(dependencies: NamespaceDependencies, request: NamespaceRequest): void {
  const { system } = dependencies;
  const wanted = kinds.filter((kind) => request[kind] !== undefined);
  const sysctls = Object.entries(request.sysctls ?? {}).map(([name, value]) => ({
    path: sysctlPath(name, wanted),
    value,
  }));
  const made: string[] = [];
  try {
    for (const kind of wanted) {
      closeSync(openSync(request[kind]!, 'wx', 0o444));
      made.push(request[kind]!);
    }
    inOtherNamespaces(dependencies, wanted, () => {
      system.unshare(wanted.reduce((flags, kind) => flags | cloneFlags[kind], 0));
      if (request.hostname !== undefined && wanted.includes('uts')) system.setHostname(request.hostname);
      if (wanted.includes('net')) system.bringInterfaceUp('lo');
      for (const { path, value } of sysctls) writeFileSync(path, value);
      for (const kind of wanted) {
        system.mount(request[kind]!, { source: `/proc/thread-self/ns/${kind}`, flags: mountFlags.bind });
      }
    });
  } catch (error) {
    for (const path of made) removeNamespace(system, path);
    throw wrapFileError(`create namespaces ${wanted.join(', ')}`, error);
  }
}

/** Gives up a pinned namespace: it ends with its last process. No error if there is none. */
export function removeNamespace(system: System, path: string): void {
  while (unmountOnce(system, path));
  rmSync(path, { force: true });
}

/** Calls `work` with the main thread in the network namespace at `path`. `work` must be done when it returns. */
export function withNetworkNamespace<T>(dependencies: NamespaceDependencies, path: string, work: () => T): T {
  const target = openNamespace(path);
  try {
    return inOtherNamespaces(dependencies, ['net'], () => {
      dependencies.system.setNamespace(target, cloneFlags.net);
      const result = work();
      if (result instanceof Promise) throw new PodwrightError('internal', `work in ${path}: it must be synchronous`);
      return result;
    });
  } finally {
    closeSync(target);
  }
}

function openNamespace(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    throw wrapFileError('enter network namespace', error);
  }
}

/** Calls `work`, which leaves this thread's namespaces of these kinds, and comes back into them whatever happens. */
function inOtherNamespaces<T>({ system, logger }: NamespaceDependencies, left: NamespaceKind[], work: () => T): T {
  const home: { kind: NamespaceKind; descriptor: number }[] = [];
  try {
    for (const kind of left) home.push({ kind, descriptor: openSync(`/proc/thread-self/ns/${kind}`, 'r') });
    try {
      return work();
    } finally {
      try {
        for (const { kind, descriptor } of home) system.setNamespace(descriptor, cloneFlags[kind]);
      } catch (error) {
        logger.error({ error: errorMessage(error) }, 'cannot return to the namespaces of the host, aborting');
        process.abort();
      }
    }
  } finally {
    for (const { descriptor } of home) closeSync(descriptor);
  }
}

/** Patterns of sysctls that are of one namespace; any other would change the host. */
const sysctlPatterns: Record<NamespaceKind, RegExp> = {
  net: /^net\//,
  ipc: /^(kernel\/(shm[a-z_]*|msg[a-z_]*|sem|auto_msgmni)|fs\/mqueue\/)/,
  uts: /^kernel\/(hostname|domainname)$/,
};

/** `/proc/sys` file of a sysctl written with dots, or with slashes where a part has a dot itself (sysctl.d(5)). */
function sysctlPath(name: string, kindsMade: NamespaceKind[]): string {
  const separator = /[./]/.exec(name)?.[0];
  const path = separator === '.' ? name.replace(/[./]/g, (mark) => (mark === '.' ? '/' : '.')) : name;
  const parts = path.split('/');
  const safe = parts.every((part) => part !== '' && part !== '.' && part !== '..');
  if (!safe || !kindsMade.some((kind) => sysctlPatterns[kind].test(path))) {
    throw new PodwrightError(
      'invalid_argument',
      `set sysctl ${name}: it is not one of the namespaces that the sandbox has for itself`,
    );
  }
  return join('/proc/sys', ...parts);
}
