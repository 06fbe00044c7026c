/** Deleted files that processes still have open: they use space, but no walk through directories finds them. */
import { stat } from 'node:fs/promises';
import { EventLoopBudget } from '@podwright/base';
import type { MountEntry } from '@podwright/system/mountinfo';
import { type BoundedReads, MountsOfProcesses, OpenFiles } from '@podwright/system/open-files';
import { type FileUse, sumOf } from './file-system-use.ts';

/** Maximum number of descriptors of a pod that one measurement checks; checking so many takes about 0.1 s. */
const MAX_DESCRIPTORS_A_POD = 20_000;
/** Bound of the mounts of a pod to read in one measurement: its processes may have any number of mount namespaces. */
const MAX_MOUNTS_A_POD = 20_000;

/**
 * Usage of deleted files in container layers and in the kubelet's directory. `emptyDirs` is the part of the latter in emptyDirs, by volume
 * name.
 */
export type HeldFiles = { layers: FileUse; kubelet: FileUse; emptyDirs: ReadonlyMap<string, FileUse> };

export const NOTHING_HELD: HeldFiles = { layers: sumOf([]), kubelet: sumOf([]), emptyDirs: new Map() };

/** `emptyDir`: name of the volume, if the file is in an emptyDir. */
type Place = { directory: 'layers' | 'kubelet'; emptyDir?: string };

/** The location of files in a mount; `undefined` if they do not belong to the pod, as in a hostPath. */
export type PlaceOf = (mount: MountEntry) => Place | undefined;

/** Directories on the disks of the kubelet and of containers' layers; '' if unknown. */
export type DiskDirectories = Record<Place['directory'], string>;

/** `reads` is for files in mounts that no process of the pod has. */
export type PlaceOptions = { placeOf: PlaceOf; disks: DiskDirectories; reads: BoundedReads };

/** The cost of measuring a deleted file, in descriptors. */
const DELETED_COST = 10;

/**
 * Usage of deleted files that these processes of a pod have open. The cost is bounded: if a pod has more than 20,000 descriptors, each call
 * checks a random part of them. A process may have received a descriptor from another container, in a socket message or through
 * /proc/PID/root: if no process of the pod has the file's mount, the file counts if it is on one of the `disks` or in an overlay. Files
 * that only a mapping, a socket message or one thread's own descriptor table keeps open are not found.
 */
export async function heldFiles(pids: readonly number[], options: PlaceOptions): Promise<HeldFiles> {
  const budget = new EventLoopBudget();
  const found = new Map<string, HeldFile>();
  const places = new Places(pids, options);
  let left = MAX_DESCRIPTORS_A_POD;
  for (const pid of fromAnywhere(pids)) {
    if (budget.isSpent) await budget.renew();
    const files = new OpenFiles(pid);
    for (const descriptor of fromAnywhere(files.descriptors)) {
      if (left-- <= 0) return sumsOf([...found.values()]);
      if (budget.isSpent) await budget.renew();
      if (!files.isDeleted(descriptor)) continue;
      left -= DELETED_COST;
      const place = await places.of(files, descriptor);
      const file = place && (await files.deletedFile(descriptor));
      if (place === undefined || file === undefined) continue;
      // another descriptor of the file may come from an exited container
      if (found.get(file.key)?.place.emptyDir === undefined)
        found.set(file.key, { place, use: { bytes: file.bytes, inodes: 1 } });
    }
  }
  return sumsOf([...found.values()]);
}

type HeldFile = { place: Place; use: FileUse };

function sumsOf(found: HeldFile[]): HeldFiles {
  const of = (isIn: (place: Place) => boolean) => sumOf(found.filter(({ place }) => isIn(place)).map(({ use }) => use));
  const names = new Set(found.flatMap(({ place }) => place.emptyDir ?? []));
  return {
    layers: of(({ directory }) => directory === 'layers'),
    kubelet: of(({ directory }) => directory === 'kubelet'),
    emptyDirs: new Map([...names].map((name) => [name, of(({ emptyDir }) => emptyDir === name)])),
  };
}

/** The kubelet's directories have the pod's UID in their paths; a runtime's directories have the container's id. Pure. */
export function placesOf({ podUid, containerIds }: { podUid: string; containerIds: readonly string[] }): PlaceOf {
  return ({ root, type, mountPoint }) => {
    const directories = root.split('/');
    const pod = directories.indexOf(podUid);
    if (pod >= 0) {
      const [, plugin, emptyDir] = directories.slice(pod + 1);
      return { directory: 'kubelet', emptyDir: plugin === 'kubernetes.io~empty-dir' ? emptyDir : undefined };
    }
    const isOfContainer = containerIds.some((id) => directories.includes(id));
    return isOfContainer || type === 'overlay' || mountPoint === '/' ? { directory: 'layers' } : undefined;
  };
}

/** Finds the locations of the files that processes of a pod have open, by their mounts. */
class Places {
  readonly #options: PlaceOptions;
  readonly #mounts: MountsOfProcesses;
  /** Locations of mounts that no process of the pod has. */
  readonly #detached = new Map<number, Place | undefined>();

  constructor(pids: readonly number[], options: PlaceOptions) {
    this.#options = options;
    this.#mounts = new MountsOfProcesses(fromAnywhere(pids), { maxMounts: MAX_MOUNTS_A_POD });
  }

  async of(files: OpenFiles, descriptor: string): Promise<Place | undefined> {
    const id = files.mountIdOf(descriptor);
    if (id === undefined) return undefined;
    const mount = await this.#mounts.find(id, files);
    if (mount !== undefined) return this.#options.placeOf(mount);
    if (!this.#detached.has(id))
      this.#detached.set(id, await this.#options.reads.take(() => this.#placeOfDetached(files, descriptor)));
    return this.#detached.get(id);
  }

  /** The mount may belong to an exited container, or be unmounted. Files in memory, as of memfd_create(2), are on no disk. */
  async #placeOfDetached(files: OpenFiles, descriptor: string): Promise<Place | undefined> {
    const { device, isOverlay } = await files.fileSystemOf(descriptor);
    if (isOverlay) return { directory: 'layers' };
    for (const directory of ['kubelet', 'layers'] as const) {
      const disk = this.#options.disks[directory];
      if (disk !== '' && (await stat(disk)).dev === device) return { directory };
    }
    return undefined;
  }
}

/** All elements, rotated to begin at a random one. */
function fromAnywhere<T>(all: readonly T[]): T[] {
  const first = Math.floor(Math.random() * all.length);
  return [...all.slice(first), ...all.slice(0, first)];
}
