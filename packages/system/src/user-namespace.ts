import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { PodwrightError, raceAbort, withTimeout, wrapError } from '@podwright/base';

/** Maps `length` IDs, starting at `containerId`, to the host IDs starting at `hostId` (user_namespaces(7)). */
export type IdMapping = { containerId: number; hostId: number; length: number };
export type IdMappings = { uids: IdMapping[]; gids: IdMapping[] };

/** Types of namespaces that can be created within a new user namespace, which then owns them. */
export type OwnedNamespace = 'net' | 'ipc' | 'uts';

/** Timeout for `unshare` and `cat` to start on a busy host. */
const START_TIMEOUT_MS = 30_000;

/**
 * Creates a user namespace and new namespaces owned by it, and calls `use` with the PID of a process in all of them; the process is killed
 * afterwards. The kernel does not allow multi-threaded processes to create or enter a user namespace, so this is left to util-linux's
 * `unshare`, which then execs `cat`. Throws `failed_precondition` if the kernel refuses.
 */
export async function withUserNamespace<T>(
  request: { mappings: IdMappings; owned: OwnedNamespace[] },
  use: (pid: number) => T | Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const args = ['--user', ...request.owned.map((kind) => `--${kind}`), 'cat'];
  const child = spawn('unshare', args, { stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  child.stdin.on('error', () => undefined); // the program may exit without reading
  try {
    await untilInside(child, ended, signal);
    mapIds(child.pid!, request.mappings);
    return await use(child.pid!);
  } finally {
    child.kill('SIGKILL');
    await ended.catch(() => undefined);
  }
}

/** Calls `use` with a descriptor of a user namespace that has these mappings, for ID-mapped mounts. */
export async function withMapping<T>(
  mappings: IdMappings,
  use: (userNamespace: number) => T | Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const work = async (pid: number) => {
    const descriptor = openSync(`/proc/${pid}/ns/user`, 'r');
    try {
      return await use(descriptor);
    } finally {
      closeSync(descriptor);
    }
  };
  return await withUserNamespace({ mappings, owned: [] }, work, signal);
}

/** Waits until `cat` echoes a line, which proves that it is running inside the namespaces. */
async function untilInside(
  child: ChildProcess,
  ended: Promise<unknown>,
  signal: AbortSignal | undefined,
): Promise<void> {
  let stderr = '';
  child.stderr!.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk).slice(0, 2000);
  });
  child.stdin!.write('\n');
  const refused = ended.then(
    () => Promise.reject(new PodwrightError('failed_precondition', `make a user namespace: ${stderr.trim()}`)),
    (error) => Promise.reject(wrapError('make a user namespace', error, 'failed_precondition')),
  );
  using bounded = withTimeout(signal, START_TIMEOUT_MS, 'make a user namespace');
  const started = Promise.race([once(child.stdout!, 'data'), refused]);
  started.catch(() => undefined); // the rejection is unhandled if the signal aborts first
  await raceAbort(started, bounded);
}

function mapIds(pid: number, { uids, gids }: IdMappings): void {
  const lines = (mappings: IdMapping[]) =>
    mappings.map(({ containerId, hostId, length }) => `${containerId} ${hostId} ${length}\n`).join('');
  try {
    writeFileSync(`/proc/${pid}/uid_map`, lines(uids));
    writeFileSync(`/proc/${pid}/gid_map`, lines(gids));
  } catch (error) {
    throw wrapError('map the ids of a user namespace', error, 'failed_precondition');
  }
}

/** Returns the host ID for an ID in the namespace; `undefined` if it is not mapped. */
export function hostIdOf(mappings: IdMapping[], id: number): number | undefined {
  const found = mappings.find(({ containerId, length }) => id >= containerId && id < containerId + length);
  return found === undefined ? undefined : found.hostId + id - found.containerId;
}
