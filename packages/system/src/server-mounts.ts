import { lstatSync, readlinkSync } from 'node:fs';
import { KeyedLock, PodwrightError, raceAbort, withTimeout } from '@podwright/base';
import { runProgram } from '@podwright/host';
import { type MountEntry, parseMountinfo, readMountinfo } from './mountinfo.ts';

/** Timeout for a server's response, including the wait for other requests to the same mount. */
const RESPONSE_TIMEOUT_MS = 10_000;

/** How long the mount table is cached. Reading it takes milliseconds on a host with many pods. */
const TABLE_AGE_MS = 1000;

/** Kernel limit on the number of symbolic links followed when resolving a path (path_resolution(7)). */
const MAX_LINKS = 40;

/** File systems whose operations wait for a server. `autofs` waits for the program that mounts another file system. */
const SERVED =
  /^(nfs4?|cifs|smb3|smbfs|fuse|fuse\..+|fuseblk|ceph|9p|virtiofs|glusterfs|lustre|afs|coda|orangefs|beegfs|gpfs|gfs2|ocfs2|autofs)$/;

/** Matches a mount table that might contain any of the file systems in `SERVED`; faster than parsing the table. */
const MAY_SERVE =
  / - (nfs|cifs|smb|fuse|ceph|9p|virtiofs|gluster|lustre|afs|coda|orangefs|beegfs|gpfs|gfs2|ocfs2|autofs)/;

export type ServerMountsOptions = {
  mountinfo?: () => Buffer;
  /** Probes a path. Settles once the server of the path's file system responds, which might be never. */
  probe?: (path: string) => Promise<unknown>;
  timeoutMs?: number;
  tableAgeMs?: number;
};

/**
 * Detects unresponsive servers of network and FUSE file systems before this process accesses a path on one. The system call would block one
 * of libuv's four pool threads until the server responds, and cannot be interrupted.
 */
export class ServerMounts {
  readonly #options: Required<ServerMountsOptions>;
  readonly #probes = new KeyedLock();
  /** Keys of mounts whose probe has timed out. */
  readonly #silent = new Set<string>();
  #table: { readAtMs: number; served: Map<string, MountEntry> } | undefined;

  constructor(options: ServerMountsOptions = {}) {
    this.#options = {
      mountinfo: readMountinfo,
      probe: probeByProgram,
      timeoutMs: RESPONSE_TIMEOUT_MS,
      tableAgeMs: TABLE_AGE_MS,
      ...options,
    };
  }

  /**
   * Must be called before using an absolute path specified by a pod or a user. Rejects with `failed_precondition` if the path is on a file
   * system whose server does not respond in time; until it does, later calls reject immediately. The root file system and file systems
   * without a server are not checked. A nonexistent path is not an error.
   */
  async requireResponse(path: string): Promise<void> {
    const mount = this.#mountOf(path);
    if (mount === undefined) return;
    const key = `${mount.id} ${mount.mountPoint}`;
    if (this.#silent.has(key)) throw silence(path, mount);
    using signal = withTimeout(undefined, this.#options.timeoutMs, `response of the server of ${mount.mountPoint}`);
    let isProbing = false;
    const probing = this.#probes.run(
      key,
      async () => {
        isProbing = true;
        await this.#options.probe(path).finally(() => this.#silent.delete(key));
      },
      signal,
    );
    try {
      await raceAbort(probing, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      if (isProbing) this.#silent.add(key);
      throw silence(path, mount);
    }
  }

  /**
   * Returns the mount that contains the path, with symbolic links resolved, if it depends on a server. Makes no system calls under such a
   * mount.
   */
  #mountOf(path: string): MountEntry | undefined {
    const served = this.#servedMounts();
    if (served.size === 0) return undefined;
    const pending = path.split('/');
    const done: string[] = [];
    for (let links = 0; pending.length > 0; ) {
      const part = pending.shift()!;
      if (part === '' || part === '.') continue;
      if (part === '..') {
        done.pop();
        continue;
      }
      const current = `/${[...done, part].join('/')}`;
      const found = served.get(current);
      if (found !== undefined) return deepest(served, found, pending);
      const target = linkTarget(current);
      if (target === undefined) {
        done.push(part);
        continue;
      }
      if (++links > MAX_LINKS) return undefined;
      if (target.startsWith('/')) done.length = 0;
      pending.unshift(...target.split('/'));
    }
    return undefined;
  }

  /** Returns the mounts that depend on a server, by mount point. */
  #servedMounts(): Map<string, MountEntry> {
    const now = performance.now();
    if (this.#table === undefined || now - this.#table.readAtMs >= this.#options.tableAgeMs)
      this.#table = { readAtMs: now, served: servedIn(this.#options.mountinfo()) };
    return this.#table.served;
  }
}

/**
 * Returns the deepest server-dependent mount that contains the path `rest` under `outer`; within an automounter's map, for example, each
 * server has its own mount. Considers only the path's text, because system calls could block.
 */
function deepest(served: Map<string, MountEntry>, outer: MountEntry, rest: readonly string[]): MountEntry {
  if (rest.includes('..')) return outer;
  let [found, current] = [outer, outer.mountPoint];
  for (const part of rest.filter((one) => one !== '' && one !== '.')) {
    current = `${current}/${part}`;
    found = served.get(current) ?? found;
  }
  return found;
}

function servedIn(mountinfo: Buffer): Map<string, MountEntry> {
  if (!MAY_SERVE.test(mountinfo.toString('latin1'))) return new Map();
  // if there are several mounts on a mount point, only the last one is visible
  const visible = new Map(parseMountinfo(mountinfo).map((mount) => [mount.mountPoint, mount]));
  return new Map([...visible].filter(([, { type }]) => SERVED.test(type)));
}

function linkTarget(path: string): string | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined; // the caller's own use of the path reports the error
  }
}

function silence(path: string, { mountPoint, type, source }: MountEntry): PodwrightError {
  return new PodwrightError(
    'failed_precondition',
    `the server of ${mountPoint} (${type}, ${source}) does not respond, so ${path} cannot be used; restore the server, or run umount --lazy ${mountPoint}`,
  );
}

/**
 * Probes the path from a separate process, which can hang if the server does not respond. Uses statfs(2), which always contacts the server,
 * as well as stat(2), which can be answered from the kernel's attribute cache (as for NFS).
 */
async function probeByProgram(path: string): Promise<void> {
  await runProgram('sh', ['-c', 'stat -f -- "$1"; stat -L -- "$1"', 'sh', path]);
}

/** The host's mounts. Shared within the process, so that an unresponsive server blocks at most one probe. */
export const serverMounts: ServerMounts = new ServerMounts();
