/** Links by which log collectors find the logs of containers, as upstream's kubelet makes them in /var/log/containers. */
import { access, mkdir, readlink, symlink, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage, isErrno, Limiter, LOG_DIRECTORY, type Logger, namesIn } from '@podwright/base';
import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';

/** The most bytes of a file's name (ext4, and nearly every other file system), less the suffix. */
const MAX_NAME_BYTES = 255 - '.log'.length;

/** `directory` may have links of others; `podLogsDir` is where those of ours lead to. */
export type ContainerLogLinksInput = { directory: string; podLogsDir: string; logger: Logger };

/** Targets by the name of the link. */
type Links = Map<string, string>;

/**
 * The links that a pod's containers have: `<pod>_<namespace>_<container>-<id>.log`, cut at 255 bytes (upstream's logSymlink). Of
 * names that are the same when they are cut, the newest container's counts. Pure.
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

/** Keeps one link for each container that has a log, and none for others. What goes wrong is logged, and tried again at the next look. */
export class ContainerLogLinks {
  readonly #input: ContainerLogLinksInput;
  /** One change at a time: a late look at a pod must not bring a link back. */
  readonly #order = new Limiter(1);
  readonly #made = new Map<string, Links>();
  #danglingBefore = new Set<string>();

  constructor(input: ContainerLogLinksInput) {
    this.#input = input;
  }

  /** Makes and removes links of this pod. Never rejects. */
  update(seen: RuntimePodStatus): Promise<void> {
    const wanted = linksOf(seen);
    return this.#attempt(() => this.#bringTo(seen.pod.uid, wanted));
  }

  /** As `update`, of all pods that there are; then removes links that an earlier kubelet left. */
  updateAll(pods: RuntimePodStatus[]): Promise<void> {
    const uids = new Set(pods.map(({ pod }) => pod.uid));
    const gone = [...this.#made.keys()].filter((uid) => !uids.has(uid));
    for (const uid of gone) void this.#attempt(() => this.#bringTo(uid, new Map()));
    for (const pod of pods) void this.update(pod);
    return this.#attempt(() => this.#removeDangling());
  }

  /** Removes the links whose logs are gone by now. */
  close(): Promise<void> {
    return this.#attempt(async () => {
      for (const name of [...this.#made.values()].flatMap((links) => [...links.keys()]))
        if (await this.#dangles(name)) await this.#unlink(name);
    });
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    const { directory, logger } = this.#input;
    await this.#order.run(work).catch((error: unknown) => {
      logger.warn({ directory, error: errorMessage(error) }, 'the links to container logs could not be kept up');
    });
  }

  async #bringTo(uid: string, wanted: Links): Promise<void> {
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

  /** False if there is no log as yet, or none at all. */
  async #link(name: string, target: string): Promise<boolean> {
    if (!(await exists(target))) return false;
    const path = join(this.#input.directory, name);
    if ((await leadsTo(path)) === target) return true; // from an earlier kubelet
    await mkdir(this.#input.directory, { recursive: true, mode: LOG_DIRECTORY });
    await this.#unlink(name); // two names that are cut to one
    await symlink(target, path);
    return true;
  }

  /**
   * Removes links into the directory of logs whose targets are gone. A log that is being rotated is gone for a moment, and it may be
   * another kubelet's: two looks must find it so.
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
    return target?.startsWith(`${this.#input.podLogsDir}/`) === true && !(await exists(target));
  }

  /** Removes nothing but a link. */
  async #unlink(name: string): Promise<void> {
    const path = join(this.#input.directory, name);
    if ((await leadsTo(path)) !== undefined) await unlink(path);
  }
}

/** Where a link leads to; nothing for what is no link. */
async function leadsTo(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'EINVAL')) return undefined;
    throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
