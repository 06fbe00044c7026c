/** Maintains symlinks to container logs for log collectors, like those that upstream's kubelet creates in /var/log/containers. */
import { mkdir, readlink, symlink, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage, isErrno, Limiter, LOG_DIRECTORY, type Logger } from '@podwright/base';
import { namesIn, pathExists } from '@podwright/host';
import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';

/**
 * Maximum length of a symlink's name in bytes, excluding the suffix. ext4 and nearly all other file systems limit file names to 255 bytes.
 */
const MAX_NAME_BYTES = 255 - '.log'.length;

/** `directory` may also contain symlinks created by other programs; this kubelet's symlinks point into `podLogsDir`. */
export type ContainerLogLinksInput = { directory: string; podLogsDir: string; logger: Logger };

/** Symlink targets by symlink name. */
type Links = Map<string, string>;

/**
 * Returns the symlinks for a pod's containers, named `<pod>_<namespace>_<container>-<id>.log` and truncated to 255 bytes (upstream's
 * logSymlink). If truncated names collide, the newest container wins. Pure.
 */
export function linksOf({ pod, containers }: RuntimePodStatus): Links {
  const links: Links = new Map();
  for (const { id, name, logPath } of containers) {
    if (logPath === '') continue;
    const link = `${`${pod.name}_${pod.namespace}_${name}-${id}`.slice(0, MAX_NAME_BYTES)}.log`;
    if (!links.has(link)) links.set(link, logPath);
  }
  return links;
}

/** Maintains a symlink for each container that has a log. Failures are logged and retried on the next update. */
export class ContainerLogLinks {
  readonly #input: ContainerLogLinksInput;
  /** Serializes updates, so that a stale update cannot recreate a removed symlink. */
  readonly #order = new Limiter(1);
  readonly #made = new Map<string, Links>();
  #danglingBefore = new Set<string>();

  constructor(input: ContainerLogLinksInput) {
    this.#input = input;
  }

  /** Creates the pod's missing symlinks and removes its stale ones. Never rejects. */
  update(seen: RuntimePodStatus): Promise<void> {
    const wanted = linksOf(seen);
    return this.#attempt(() => this.#apply(seen.pod.uid, wanted));
  }

  /** Updates the symlinks of all pods, and removes dangling symlinks left behind by the kubelet before its restart. */
  updateAll(pods: RuntimePodStatus[]): Promise<void> {
    const uids = new Set(pods.map(({ pod }) => pod.uid));
    const removed = [...this.#made.keys()].filter((uid) => !uids.has(uid));
    for (const uid of removed) void this.#attempt(() => this.#apply(uid, new Map()));
    for (const pod of pods) void this.update(pod);
    return this.#attempt(() => this.#removeDangling());
  }

  /** Removes this kubelet's symlinks whose logs have been deleted. */
  close(): Promise<void> {
    return this.#attempt(async () => {
      for (const name of [...this.#made.values()].flatMap((links) => [...links.keys()]))
        if (await this.#dangles(name)) await this.#unlink(name);
    });
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    const { directory, logger } = this.#input;
    await this.#order.run(work).catch((error: unknown) => {
      logger.warn({ directory, error: errorMessage(error) }, 'the links to container logs could not be updated');
    });
  }

  async #apply(uid: string, wanted: Links): Promise<void> {
    const made = this.#made.get(uid) ?? new Map<string, string>();
    this.#made.set(uid, made);
    for (const [name, target] of made) {
      if (wanted.get(name) === target) continue;
      await this.#unlink(name);
      made.delete(name);
    }
    for (const [name, target] of wanted) {
      if (!made.has(name) && (await this.#link(name, target))) made.set(name, target);
    }
    if (made.size === 0) this.#made.delete(uid);
  }

  /** Creates a symlink to a log. Returns false if the log does not exist (yet). */
  async #link(name: string, target: string): Promise<boolean> {
    if (!(await pathExists(target))) return false;
    const path = join(this.#input.directory, name);
    if ((await leadsTo(path)) === target) return true; // created by an earlier kubelet
    await mkdir(this.#input.directory, { recursive: true, mode: LOG_DIRECTORY });
    await this.#unlink(name); // another container's link, with the same truncated name
    await symlink(target, path);
    return true;
  }

  /**
   * Removes dangling symlinks that point into the log directory. A symlink must be found dangling by two consecutive checks, because a log
   * is briefly missing during rotation, and the symlink might belong to another kubelet.
   */
  async #removeDangling(): Promise<void> {
    const dangling = new Set<string>();
    const ours = new Set([...this.#made.values()].flatMap((links) => [...links.keys()]));
    for (const name of await namesIn(this.#input.directory))
      if (name.endsWith('.log') && !ours.has(name) && (await this.#dangles(name))) dangling.add(name);
    for (const name of dangling) if (this.#danglingBefore.has(name)) await this.#unlink(name);
    this.#danglingBefore = dangling;
  }

  async #dangles(name: string): Promise<boolean> {
    const target = await leadsTo(join(this.#input.directory, name));
    return target?.startsWith(`${this.#input.podLogsDir}/`) === true && !(await pathExists(target));
  }

  async #unlink(name: string): Promise<void> {
    const path = join(this.#input.directory, name);
    if ((await leadsTo(path)) !== undefined) await unlink(path);
  }
}

/** Returns the symlink's target; `undefined` if the path is not a symlink. */
async function leadsTo(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'EINVAL')) return undefined;
    throw error;
  }
}
