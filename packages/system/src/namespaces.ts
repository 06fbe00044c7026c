import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage, type Logger, MOUNT_POINT_FILE, makePrivateDirectory, PodwrightError } from '@podwright/base';
import { runChecked } from '@podwright/host';
import { wrapFileError } from './errno.ts';
import { mountFlags } from './mount-options.ts';
import { readMounts, unmountOnce } from './mountinfo.ts';
import type { System } from './system.ts';
import { type IdMappings, type OwnedNamespace, withUserNamespace } from './user-namespace.ts';

type NamespaceKind = OwnedNamespace;

/** CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS (linux/sched.h). */
const CLONE_FLAGS: Record<NamespaceKind, number> = { net: 0x40000000, ipc: 0x08000000, uts: 0x04000000 };
const KINDS: NamespaceKind[] = ['net', 'ipc', 'uts'];

/** Namespaces to create, each with the path of its pin file, and their settings. */
export type NamespaceRequest = {
  net?: string;
  ipc?: string;
  uts?: string;
  /** Hostname in the new UTS namespace; requires `uts`. */
  hostname?: string;
  /** Sysctls such as `net.ipv4.ip_forward` → `1`. Only those of the created namespaces are accepted. */
  sysctls?: Record<string, string>;
};

export type NamespaceDependencies = { system: System; logger: Logger };

/** Makes `directory` a private mount, which keeps the namespaces pinned in it from propagating to other mount namespaces. */
export function preparePinDirectory(system: System, directory: string): void {
  makePrivateDirectory(directory);
  if (!readMounts().some(({ mountPoint }) => mountPoint === directory)) {
    system.mount(directory, { source: directory, flags: mountFlags.bind });
  }
  system.mount(directory, { flags: mountFlags.private });
}

/**
 * Creates namespaces without any processes. Each exists until its pin file is unmounted (`removeNamespace`). Leaves nothing behind on
 * failure. During this call, the main thread is in the new namespaces for about a millisecond, doing nothing else; other threads are not
 * affected. If it cannot return, the process is aborted.
 */
export function createNamespaces(dependencies: NamespaceDependencies, request: NamespaceRequest): void {
  const { system } = dependencies;
  const requested = KINDS.filter((kind) => request[kind] !== undefined);
  const sysctls = sysctlsOf(request, requested);
  const made: string[] = [];
  try {
    for (const kind of requested) makePinFile(request[kind]!, made);
    inOtherNamespaces(dependencies, requested, () => {
      system.unshare(requested.reduce((flags, kind) => flags | CLONE_FLAGS[kind], 0));
      setUp(system, request, sysctls);
      for (const kind of requested) {
        system.mount(request[kind]!, { source: `/proc/thread-self/ns/${kind}`, flags: mountFlags.bind });
      }
    });
  } catch (error) {
    for (const path of made) removeNamespace(system, path);
    throw wrapFileError(`create namespaces ${requested.join(', ')}`, error);
  }
}

/**
 * Sets the hostname and sysctls of namespaces created by `createNamespaces`. During this call, the main thread enters the namespaces that
 * need changes.
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

/** A user namespace to create, pinned at `user`. It will own the other namespaces of the request. */
export type OwnedNamespaceRequest = NamespaceRequest & { user: string; mappings: IdMappings };

/** Like `createNamespaces`, but within a new user namespace, whose root user has all capabilities over them. */
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
      // Only the user namespace's root may set sysctls of an IPC namespace. All others have to be set from outside, with host IDs.
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

function sysctlsOf({ sysctls = {} }: NamespaceRequest, requested: NamespaceKind[]): Sysctl[] {
  return Object.entries(sysctls).map(([name, value]) => ({ ...sysctlPath(name, requested), value }));
}

function makePinFile(path: string, made: string[]): void {
  closeSync(openSync(path, 'wx', MOUNT_POINT_FILE));
  made.push(path);
}

/** Sets the hostname and sysctls of the current thread's namespaces, and brings up the loopback interface. */
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

/** Sets sysctls as the root user of the process's user namespace, using `nsenter`. */
async function setAsOwner(pid: number, sysctls: Sysctl[], signal: AbortSignal): Promise<void> {
  const script = 'while [ $# -gt 0 ]; do printf %s "$2" > "$1" || exit 1; shift 2; done';
  const pairs = sysctls.flatMap(({ path, value }) => [path, value]);
  await runChecked('nsenter', ['--target', `${pid}`, '--user', '--ipc', 'sh', '-c', script, 'sh', ...pairs], {
    signal,
  });
}

/** Unpins a namespace, which ceases to exist once no process is left in it. No error if the pin does not exist. */
export function removeNamespace(system: System, path: string): void {
  while (unmountOnce(system, path));
  rmSync(path, { force: true });
}

/** Calls `work` with the main thread in the network namespace at `path`. `work` must be synchronous. */
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

/**
 * Calls `work`, which might move this thread out of its namespaces of the types in `left`. Always returns the thread to these namespaces
 * afterwards.
 */
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

/** Namespaced sysctls, by namespace type. Any other sysctl would affect the host. */
const sysctlPatterns: Record<NamespaceKind, RegExp> = {
  net: /^net\//,
  ipc: /^(kernel\/(shm[a-z_]*|msg[a-z_]*|sem|auto_msgmni)|fs\/mqueue\/)/,
  uts: /^kernel\/(hostname|domainname)$/,
};

/**
 * Returns a sysctl's file in `/proc/sys` and the type of its namespace. Components of the name are separated by dots, or by slashes if a
 * component contains a dot (sysctl.d(5)).
 */
function sysctlPath(name: string, kindsMade: NamespaceKind[]): { path: string; kind: NamespaceKind } {
  const separator = /[./]/.exec(name)?.[0];
  const path = separator === '.' ? name.replace(/[./]/g, (mark) => (mark === '.' ? '/' : '.')) : name;
  const parts = path.split('/');
  const safe = parts.every((part) => part !== '' && part !== '.' && part !== '..');
  const kind = kindsMade.find((made) => sysctlPatterns[made].test(path));
  if (!safe || kind === undefined) {
    throw new PodwrightError(
      'invalid_argument',
      `set sysctl ${name}: the sandbox has no namespace of its own that this sysctl belongs to`,
    );
  }
  return { path: join('/proc/sys', ...parts), kind };
}
