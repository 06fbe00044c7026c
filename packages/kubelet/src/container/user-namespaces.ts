import { randomInt } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import {
  isErrno,
  KeyedLock,
  namesIn,
  POD_DIRECTORY,
  PodwrightError,
  PRIVATE_FILE,
  writeFileDurable,
} from '@podwright/base';
import type { PodDirectories } from '@podwright/volumes';

/** Ids of the host's users and groups, which are those from 0 on in a user namespace. */
export type IdRange = { firstId: number; length: number };

export type UserNamespacesOptions = {
  directories: PodDirectories;
  /** `userNamespaces.idsPerPod`. */
  idsPerPod: number;
  /** Ids that pods may be given, asked for at the first pod that needs some. */
  available: () => Promise<IdRange>;
  maxPods: number;
};

type IdMapping = { hostId: number; containerId: number; length: number };
type Mappings = { uidMappings: IdMapping[]; gidMappings: IdMapping[] };

/**
 * The ranges of ids of pods in user namespaces. Each is written down in its pod's directory in upstream's form, and goes with
 * it, so nothing is remembered or released: a range is free if no pod's directory names it.
 */
export class UserNamespaces {
  readonly #options: UserNamespacesOptions;
  readonly #lock = new KeyedLock();
  #slots: Promise<{ first: number; count: number }> | undefined;

  constructor(options: UserNamespacesOptions) {
    this.#options = options;
  }

  /** The pod's own range, the same as long as its directory is there. Rejects if none is left or the file is not ours. */
  rangeOf(podUid: string): Promise<IdRange> {
    return this.#lock.run('', async () => (await this.#read(podUid)) ?? (await this.#allocate(podUid)));
  }

  async #allocate(podUid: string): Promise<IdRange> {
    const { directories, idsPerPod: length } = this.#options;
    this.#slots ??= this.#countSlots();
    const { first, count } = await this.#slots;
    const free = freeSlot(await this.#taken(), { first, count });
    if (free === undefined) {
      throw new PodwrightError('resource_exhausted', 'could not find an empty slot to allocate a user namespace');
    }
    const mapping = [{ hostId: free * length, containerId: 0, length }];
    const text = JSON.stringify({ uidMappings: mapping, gidMappings: mapping } satisfies Mappings);
    await mkdir(directories.pod(podUid), { recursive: true, mode: POD_DIRECTORY });
    await writeFileDurable(directories.userNamespace(podUid), text, PRIVATE_FILE);
    return { firstId: free * length, length };
  }

  /** Ids below the first range are never given out: they are the host's own, root among them. */
  async #countSlots(): Promise<{ first: number; count: number }> {
    const { available, idsPerPod, maxPods } = this.#options;
    const { firstId, length } = await available();
    const refuse = (what: string) => new PodwrightError('failed_precondition', `kubelet user assigned ${what}`);
    if (firstId % idsPerPod !== 0) throw refuse(`ID ${firstId} is not a multiple of ${idsPerPod}`);
    if (firstId < idsPerPod) throw refuse(`ID ${firstId} must be greater or equal to ${idsPerPod}`);
    if (length % idsPerPod !== 0) throw refuse(`IDs length ${length} is not a multiple of ${idsPerPod}`);
    if (length / idsPerPod < maxPods) throw refuse(`IDs are not enough to support ${maxPods} pods`);
    return { first: firstId / idsPerPod, count: length / idsPerPod };
  }

  async #taken(): Promise<Set<number>> {
    const ranges = await Promise.all((await namesIn(this.#options.directories.root)).map((uid) => this.#read(uid)));
    return new Set(ranges.filter((range) => range !== undefined).map(({ firstId, length }) => firstId / length));
  }

  async #read(podUid: string): Promise<IdRange | undefined> {
    const path = this.#options.directories.userNamespace(podUid);
    try {
      return this.#decode(await readFile(path, 'utf8'));
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return undefined;
      throw new PodwrightError('failed_precondition', `read the user namespace of pod ${podUid} from ${path}`, {
        cause: error,
      });
    }
  }

  #decode(text: string): IdRange {
    const { uidMappings, gidMappings } = JSON.parse(text) as Partial<Mappings>;
    const [uids] = uidMappings ?? [];
    const [gids] = gidMappings ?? [];
    const refuse = (why: string) => new PodwrightError('failed_precondition', `invalid user namespace: ${why}`);
    if (uids === undefined || uidMappings?.length !== 1) throw refuse('there must be one mapping');
    if (JSON.stringify(uids) !== JSON.stringify(gids)) throw refuse('users and groups must be mapped alike');
    if (uids.containerId !== 0) throw refuse('id 0 must be mapped');
    const { hostId: firstId, length } = uids;
    if (length !== this.#options.idsPerPod) throw refuse(`a pod has ${this.#options.idsPerPod} ids, not ${length}`);
    if (!Number.isInteger(firstId) || firstId < length || firstId % length !== 0)
      throw refuse(`no range begins at ${firstId}`);
    return { firstId, length };
  }
}

/** A free slot from a random place on: what a pod that is gone has left behind is then seldom the next pod's. */
function freeSlot(taken: ReadonlySet<number>, { first, count }: { first: number; count: number }): number | undefined {
  const start = randomInt(count);
  for (let step = 0; step < count; step++) {
    const slot = first + ((start + step) % count);
    if (!taken.has(slot)) return slot;
  }
  return undefined;
}
