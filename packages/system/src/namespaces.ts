import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  errorMessage,
  type Logger,
  MOUNT_POINT_FILE,
  makePrivateDirectory,
  PodwrightError,
  runChecked,
} from '@podwright/base';
import { wrapFileError } from './errno.ts';
import { mountFlags } from './mount-options.ts';
import { readMounts, unmountOnce } from './mountinfo.ts';
import type { System } from './system.ts';
import { type IdMappings, type OwnedNamespace, withUserNamespace } from './user-namespace.ts';

type NamespaceKind = OwnedNamespace;

/** CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS (linux/sched.h). */
const CLONE_FLAGS: Record<NamespaceKind, number> = { net: 0x40000000, ipc: 0x08000000, uts: 0x04000000 };
const KINDS: NamespaceKind[] = ['net', 'ipc', 'uts'];

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
  makePrivateDirectory(directory);
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
  const wanted = KINDS.filter((kind) => request[kind] !== undefined);
  const sysctls = sysctlsOf(request, wanted);
  const made: string[] = [];
  try {
    for (const kind of wanted) makePinFile(request[kind]!, made);
    inOtherNamespaces(dependencies, wanted, () => {
      system.unshare(wanted.reduce((flags, kind) => flags | CLONE_FLAGS[kind], 0));
      setUp(system, request, sysctls);
      for (const kind of wanted) {
        system.mount(request[kind]!, { source: `/proc/thread-self/ns/${kind}`, flags: mountFlags.bind });
      }
    });
  } catch (error) {
    for (const path of made) removeNamespace(system, path);
    throw wrapFileError(`create namespaces ${wanted.join(', ')}`, error);
  }
}

/**
 * Gives namespaces that `createNamespaces` has made another host name and more sysctls. The main thread is within this call in
 * those of them that this concerns.
 */
export function setUpNamespaces(dependencies: NamespaceDependencies, request: NamespaceRequest): void {
  const { hostname } = request;
  const pinned = KINDS.filter((kind) => request[kind] !== undefined);
  const sysctls = sysctlsOf(request, pinned);
  const owned = pinned.filter(
    (kind) => (kind === 'uts' && hostname !== undefined) || sysctls.some((sysctl) => sysctl.kind === kind),
  );
  const pins = Object.fromEntries(owned.map((kind) => [kind, request[kind]]));
  try {
    setUpPinned(dependencies, { ...pins, hostname, owned }, sysctls);
  } catch (error) {
    throw wrapFileError(`set up namespaces ${owned.join(', ')}`, error);
  }
}

/** A user namespace, pinned at `user`, with the namespaces of a `NamespaceRequest`, which it owns. */
export type OwnedNamespaceRequest = NamespaceRequest & { user: string; mappings: IdMappings };

/** As `createNamespaces`, in a new user namespace, whose root has all capabilities over them. */
export async function createOwnedNamespaces(
  dependencies: NamespaceDependencies,
  request: OwnedNamespaceRequest,
  signal: AbortSignal,
): Promise<void> {
  const { system } = dependencies;
  const { user, mappings } = request;
  const owned = KINDS.filter((kind) => request[kind] !== undefined);
  const sysctls = sysctlsOf(request, owned);
  const pins = { user, ...Object.fromEntries(owned.map((kind) => [kind, request[kind]!])) };
  const made: string[] = [];
  try {
    for (const path of Object.values(pins)) makePinFile(path, made);
    const pinAll = async (pid: number) => {
      for (const [kind, path] of Object.entries(pins)) {
        system.mount(path, { source: `/proc/${pid}/ns/${kind}`, flags: mountFlags.bind });
      }
      // The kernel lets only the namespace's own root set those of IPC, and others only outside with ids of the host.
      const ofIpc = sysctls.filter(({ kind }) => kind === 'ipc');
      if (ofIpc.length > 0) await setAsOwner(pid, ofIpc, signal);
      const ofOthers = sysctls.filter(({ kind }) => kind !== 'ipc');
      setUpPinned(dependencies, { ...request, owned }, ofOthers);
    };
    await withUserNamespace({ mappings, owned }, pinAll, signal);
  } catch (error) {
    for (const path of made) removeNamespace(system, path);
    throw wrapFileError('create namespaces of a user namespace', error);
  }
}

type Sysctl = { path: string; value: string; kind: NamespaceKind };

function sysctlsOf({ sysctls = {} }: NamespaceRequest, wanted: NamespaceKind[]): Sysctl[] {
  return Object.entries(sysctls).map(([name, value]) => ({ ...sysctlPath(name, wanted), value }));
}

function makePinFile(path: string, made: string[]): void {
  closeSync(openSync(path, 'wx', MOUNT_POINT_FILE));
  made.push(path);
}

/** Sets this thread's new namespaces up. */
function setUp(system: System, { net, uts, hostname }: NamespaceRequest, sysctls: Sysctl[]): void {
  if (hostname !== undefined && uts !== undefined) system.setHostname(hostname);
  if (net !== undefined) system.bringInterfaceUp('lo');
  for (const { path, value } of sysctls) writeFileSync(path, value);
}

function setUpPinned(
  dependencies: NamespaceDependencies,
  request: NamespaceRequest & { owned: NamespaceKind[] },
  sysctls: Sysctl[],
): void {
  const { system } = dependencies;
  const targets = request.owned.map((kind) => ({ kind, descriptor: openSync(request[kind]!, 'r') }));
  try {
    inOtherNamespaces(dependencies, request.owned, () => {
      for (const { kind, descriptor } of targets) system.setNamespace(descriptor, CLONE_FLAGS[kind]);
      setUp(system, request, sysctls);
    });
  } finally {
    for (const { descriptor } of targets) closeSync(descriptor);
  }
}

/** Sets sysctls as root of the process's user namespace, which `nsenter` becomes. */
async function setAsOwner(pid: number, sysctls: Sysctl[], signal: AbortSignal): Promise<void> {
  const script = 'while [ $# -gt 0 ]; do printf %s "$2" > "$1" || exit 1; shift 2; done';
  const pairs = sysctls.flatMap(({ path, value }) => [path, value]);
  await runChecked('nsenter', ['--target', `${pid}`, '--user', '--ipc', 'sh', '-c', script, 'sh', ...pairs], {
    signal,
  });
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
      dependencies.system.setNamespace(target, CLONE_FLAGS.net);
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

/** Calls `work`, which leaves this thread's namespaces of these KINDS, and comes back into them whatever happens. */
function inOtherNamespaces<T>({ system, logger }: NamespaceDependencies, left: NamespaceKind[], work: () => T): T {
  const home: { kind: NamespaceKind; descriptor: number }[] = [];
  try {
    for (const kind of left) home.push({ kind, descriptor: openSync(`/proc/thread-self/ns/${kind}`, 'r') });
    try {
      return work();
    } finally {
      try {
        for (const { kind, descriptor } of home) system.setNamespace(descriptor, CLONE_FLAGS[kind]);
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

/** `/proc/sys` file of a sysctl written with dots, or with slashes where a part has a dot itself (sysctl.d(5)), and whose it is. */
function sysctlPath(name: string, kindsMade: NamespaceKind[]): { path: string; kind: NamespaceKind } {
  const separator = /[./]/.exec(name)?.[0];
  const path = separator === '.' ? name.replace(/[./]/g, (mark) => (mark === '.' ? '/' : '.')) : name;
  const parts = path.split('/');
  const safe = parts.every((part) => part !== '' && part !== '.' && part !== '..');
  const kind = kindsMade.find((made) => sysctlPatterns[made].test(path));
  if (!safe || kind === undefined) {
    throw new PodwrightError(
      'invalid_argument',
      `set sysctl ${name}: it is not one of the namespaces that the sandbox has for itself`,
    );
  }
  return { path: join('/proc/sys', ...parts), kind };
}
