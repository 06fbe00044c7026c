import { randomInt } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { isErrno, KeyedLock, POD_DIRECTORY, PodwrightError, PRIVATE_FILE } from '@podwright/base';
import { namesIn, readJsonFile, writeFileDurable } from '@podwright/host';
import type { PodDirectories } from '@podwright/volumes';

/** Maximum size of a mappings file. It contains two mappings of 60 bytes each. */
const MAX_MAPPINGS_BYTES = 4096;

/** A range of host UIDs and GIDs that a user namespace maps to IDs from 0. */
export type IdRange = { firstId: number; length: number };

export type UserNamespacesOptions = {
  directories: PodDirectories;
  /** Length of each pod's ID range (KubeletConfiguration `userNamespaces.idsPerPod`). */
  idsPerPod: number;
  /** Returns the range of all IDs available to pods. Called when the first pod needs a range. */
  available: () => Promise<IdRange>;
  maxPods: number;
};

type IdMapping = { hostId: number; containerId: number; length: number };
type Mappings = { uidMappings: IdMapping[]; gidMappings: IdMapping[] };

/**
 * Allocates ID ranges to pods that use user namespaces. A pod's range is stored in the pod's directory, in upstream's format, and is
 * removed along with it. There is no other state: a range is free if no pod's directory contains it.
 */
export class UserNamespaces {
  readonly #options: UserNamespacesOptions;
  readonly #lock = new KeyedLock();
  #slots: Promise<{ first: number; count: number }> | undefined;

  constructor(options: UserNamespacesOptions) {
    this.#options = options;
  }

  /**
   * Returns the pod's ID range, which does not change as long as the pod's directory exists. Rejects if no range is free or the mappings
   * file is invalid.
   */
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

  /** Counts the available ranges, excluding the IDs below the first range: those belong to the host's users, including root. */
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
      return this.#decode(await readJsonFile(path, MAX_MAPPINGS_BYTES));
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return undefined;
      throw new PodwrightError('failed_precondition', `read the user namespace of pod ${podUid} from ${path}`, {
        cause: error,
      });
    }
  }

  #decode(value: unknown): IdRange {
    const { uidMappings, gidMappings } = (value ?? {}) as Partial<Mappings>;
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

/**
 * Returns a free slot for an ID range. The search starts at a random slot, so that files left behind by a removed pod rarely belong to the
 * next one.
 */
function freeSlot(taken: ReadonlySet<number>, { first, count }: { first: number; count: number }): number | undefined {
  const start = randomInt(count);
  for (let step = 0; step < count; step++) {
    const slot = first + ((start + step) % count);
    if (!taken.has(slot)) return slot;
  }
  return undefined;
}
