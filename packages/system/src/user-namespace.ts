import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { PodwrightError, raceAbort, withTimeout, wrapError } from '@podwright/base';

/** Ids from `containerId` on are `hostId` on, for `length` ids (user_namespaces(7)). */
export type IdMapping = { containerId: number; hostId: number; length: number };
export type IdMappings = { uids: IdMapping[]; gids: IdMapping[] };

/** Namespaces that a user namespace can be made with, which then owns them. */
export type OwnedNamespace = 'net' | 'ipc' | 'uts';

/** Starting two small programs; a busy host takes its time. */
const START_TIMEOUT_MS = 30_000;

/**
 * Makes a user namespace, with new namespaces that it owns, and calls `use` with the id of a process in all of them, which
 * ends afterwards. The kernel lets no process with threads enter or make a user namespace, so it takes another program:
 * `unshare` of util-linux, which becomes `cat` in the namespaces. Errors: `failed_precondition` where the kernel refuses.
 */
export async function withUserNamespace<T>(
  request: { mappings: IdMappings; owned: OwnedNamespace[] },
  use: (pid: number) => T | Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const args = ['--user', ...request.owned.map((kind) => `--${kind}`), 'cat'];
  const child = spawn('unshare', args, { stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  child.stdin.on('error', () => undefined); // it may end without reading
  try {
    await untilInside(child, ended, signal);
    mapIds(child.pid!, request.mappings);
    return await use(child.pid!);
  } finally {
    child.kill('SIGKILL');
    await ended.catch(() => undefined);
  }
}

/** Calls `use` with a descriptor of a user namespace that has the mappings: what ID-mapped mounts are made with. */
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

/** What `cat` is given comes back as soon as it runs, and that is in the namespaces. */
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
  started.catch(() => undefined); // not awaited any more when the signal comes first
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

/** The host's id of an id in the namespace, `undefined` if it is not mapped. */
export function hostIdOf(mappings: IdMapping[], id: number): number | undefined {
  const found = mappings.find(({ containerId, length }) => id >= containerId && id < containerId + length);
  return found === undefined ? undefined : found.hostId + id - found.containerId;
}
