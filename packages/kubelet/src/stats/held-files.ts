/** Finds deleted files that processes still hold. They use disk space, but directory walks do not find them. */
import { stat } from 'node:fs/promises';
import { errorCode, ignoreFailure, isDeadlineExceeded, WorkBudget } from '@podwright/base';
import { type FileUse, sumOfUses } from '@podwright/host';
import type { MountEntry } from '@podwright/system/mountinfo';
import {
  type BoundedReads,
  type DeletedFile,
  deletedFile,
  fileSystemKind,
  isDeep,
  isDeleted,
  MountsOfProcesses,
  mountIdOf,
  OpenFiles,
} from '@podwright/system/open-files';

/** Time budget for the first search of each pod in a round. Enough to search almost any pod completely. */
const POD_BUDGET_MS = 50;
/** Time budget for all pods together in one round. */
const ROUND_BUDGET_MS = 1000;
/** Maximum duration of a round, including time spent waiting for file systems. */
const ROUND_MS = 5000;
/** Maximum number of passes over a pod's processes in one search. New processes and changed files require another pass. */
const MAX_REPEATS = 30;
/** Maximum number of a pod's mounts to read in one search, because its processes may have any number of mount namespaces. */
const MAX_MOUNTS_A_POD = 20_000;

/**
 * Usage of deleted files in container layers and in the kubelet's directory. `emptyDirs`: the part of the kubelet's usage that is in
 * emptyDirs, by volume name. `isPartial`: the pod holds more files than could be searched in its share of the time, reading its files
 * hangs, or a held file has removed parent directories, which cannot be counted.
 */
export type HeldFiles = {
  layers: FileUse;
  kubelet: FileUse;
  emptyDirs: ReadonlyMap<string, FileUse>;
  isPartial: boolean;
};

const NO_FILES = sumOfUses([]);
export const NOTHING_HELD: HeldFiles = { layers: NO_FILES, kubelet: NO_FILES, emptyDirs: new Map(), isPartial: false };

/**
 * The location of a held file. `emptyDir`: the volume name, if the file is in an emptyDir. `isDetached`: the file's mount is unknown (an
 * exited container's, for example), so another link to the file may reveal a more precise location.
 */
type Place = { directory: 'layers' | 'kubelet'; emptyDir?: string; isDetached?: boolean };

/**
 * Returns the location of the files in a mount; `undefined` if they do not belong to the pod, for example if they are in a hostPath volume.
 */
export type PlaceOf = (mount: MountEntry) => Place | undefined;

/** One directory on the kubelet's disk and one on the container layers' disk; '' if unknown. */
export type DiskDirectories = Record<Place['directory'], string>;

/** Options for locating a pod's files. `reads` performs all reads of these files and bounds how many may hang. */
export type PlaceOptions = { placeOf: PlaceOf; disks: DiskDirectories; reads: BoundedReads };

/** A pod to search for deleted files that it holds; `pids` returns its current process IDs. */
export type Holder = PlaceOptions & { pids: () => Promise<readonly number[]> };

/**
 * The result of searching one pod. `isInterrupted`: files were missed because other pods used up the round's time, or because two reads of
 * other pods' files hang.
 */
export type SearchedFiles = HeldFiles & { isInterrupted: boolean };

/** Searches all pods for held deleted files, in rounds. `Key` identifies a pod. */
export class HeldFilesOfPods<Key> {
  readonly #search: typeof heldFiles;
  readonly #roundMs: number;
  /** The last complete measurement for each pod. */
  #complete = new Map<Key, HeldFiles>();

  /** The parameters are overridden in tests. */
  constructor({ search = heldFiles, roundMs = ROUND_MS } = {}) {
    this.#search = search;
    this.#roundMs = roundMs;
  }

  /**
   * Runs one round. A pod that holds few files is searched completely, no matter how many files other pods hold. A pod whose search is
   * interrupted keeps its last complete result.
   */
  async measure(holders: ReadonlyMap<Key, Holder>): Promise<Map<Key, HeldFiles>> {
    const found = new Map<Key, SearchedFiles>();
    const endMs = performance.now() + this.#roundMs;
    let leftMs = ROUND_BUDGET_MS;
    const search = async (key: Key, budgetMs: number, deadlineMs: number) => {
      const { pids, ...options } = holders.get(key)!;
      const budget = new WorkBudget(budgetMs, { deadlineMs });
      const result = await this.#search(pids, options, budget);
      leftMs -= budget.spentMs;
      if (!result.isInterrupted || !found.has(key)) found.set(key, result);
    };
    const firstMs = Math.min(POD_BUDGET_MS, leftMs / holders.size);
    for (const key of fromAnywhere([...holders.keys()])) await search(key, firstMs, endMs);
    const partial = [...holders.keys()].filter((key) => found.get(key)!.isPartial);
    const secondMs = leftMs / partial.length;
    // skip the second search of these pods if it would have no more time than the first, because it would be cut short as well
    for (const [index, key] of secondMs > firstMs ? partial.entries() : []) {
      const nowMs = performance.now();
      await search(key, secondMs, nowMs + (endMs - nowMs) / (partial.length - index));
    }
    return this.#completed(found);
  }

  #completed(found: ReadonlyMap<Key, SearchedFiles>): Map<Key, HeldFiles> {
    const last = this.#complete;
    this.#complete = new Map();
    const results = new Map<Key, HeldFiles>();
    for (const [key, { isInterrupted, ...files }] of found) {
      const known = isInterrupted ? last.get(key) : files;
      const complete = files.isPartial ? last.get(key) : known;
      if (complete !== undefined) this.#complete.set(key, complete);
      results.set(key, known ?? files);
    }
    return results;
  }
}

/**
 * Measures the deleted files that a pod's processes hold: open, mapped, or as their executable, working directory or root directory. The
 * search includes processes that start while it runs, and ends when the budget is used up. A process may have received a file descriptor
 * from another container, through a socket message or /proc/PID/root. Therefore, if no process of the pod has the file's mount, the file
 * counts if it is on one of the `disks` or in an overlay. The search does not find files held only by a socket message, by a socket's
 * address, or in one thread's private tables (of file descriptors, for example).
 */
export async function heldFiles(
  pids: Holder['pids'],
  options: PlaceOptions,
  budget = new WorkBudget(2 * POD_BUDGET_MS),
): Promise<SearchedFiles> {
  const search = new Search(pids, options, budget);
  const ending = await search.run().then(
    (isComplete) => (isComplete ? (search.isDeep ? 'partial' : 'complete') : budget.isLate ? 'interrupted' : 'partial'),
    (error: unknown) => {
      if (isDeadlineExceeded(error)) return 'partial';
      if (errorCode(error) === 'unavailable') return 'interrupted';
      throw error;
    },
  );
  const sums = sumsOf([...search.found.values()]);
  return { ...sums, isPartial: ending === 'partial', isInterrupted: ending === 'interrupted' };
}

type HeldFile = { place: Place; use: FileUse };

/** One search through a pod's processes. Its methods return whether the budget was sufficient, and reject like `BoundedReads.take`. */
class Search {
  readonly found = new Map<string, HeldFile>();
  /**
   * Whether a held file was found whose removed parent directories might use disk space as well. The result is then partial, because these
   * directories cannot be counted.
   */
  isDeep = false;
  readonly #pids: Holder['pids'];
  readonly #searched: number[] = [];
  /**
   * Whether the process has closed or moved a file, or split a mapping, between listing and reading it. The process is then searched again.
   */
  #isChanged = false;
  readonly #reads: BoundedReads;
  readonly #budget: WorkBudget;
  readonly #places: Places;

  constructor(pids: Holder['pids'], options: PlaceOptions, budget: WorkBudget) {
    this.#pids = pids;
    this.#reads = options.reads;
    this.#budget = budget;
    this.#places = new Places(this.#searched, options, budget);
  }

  /**
   * Scans the open files of all the pod's processes, including processes started since the last scan, which may have inherited open files
   * from processes that have exited.
   */
  async run(): Promise<boolean> {
    for (let repeats = 0; repeats < MAX_REPEATS; repeats++) {
      const searched = new Set(this.#searched);
      const pids = new Set(await this.#budget.wait(this.#pids()));
      const started = fromAnywhere([...pids].filter((pid) => !searched.has(pid)));
      if (started.length === 0) return true;
      this.#searched.push(...started);
      for (const pid of started) {
        const files = new OpenFiles(pid);
        do {
          if (!(await this.#budget.mayContinue())) return false;
          this.#isChanged = false;
          if (!((await this.#searchLinks(files)) && (await this.#searchMappings(files)))) return false;
        } while (this.#isChanged && ++repeats < MAX_REPEATS);
      }
    }
    return false;
  }

  async #searchLinks(files: OpenFiles): Promise<boolean> {
    for (const link of files.links()) {
      if (!(await this.#budget.mayContinue())) return false;
      if (isDeleted(link)) await this.#add(link, files);
    }
    return true;
  }

  async #searchMappings(files: OpenFiles): Promise<boolean> {
    const parts = files.deletedMappings();
    try {
      for (;;) {
        if (!(await this.#budget.mayContinue())) return false;
        const part = await this.#budget.wait(this.#reads.take(() => parts.next()));
        if (part === undefined || part.done) return true; // undefined if the process has exited
        for (const link of part.value) {
          if (!(await this.#budget.mayContinue())) return false;
          await this.#add(link, files);
        }
      }
    } finally {
      ignoreFailure(parts.return(undefined), 'it only closes the list, and waits for a read that hangs');
    }
  }

  async #add(link: string, files: OpenFiles): Promise<void> {
    const file = await this.#budget.wait(this.#reads.take(() => deletedFile(link)));
    if (file === 'missing') this.#isChanged = true;
    else if (file !== undefined) await this.#count(link, file, files);
  }

  async #count(link: string, { key, bytes, device }: DeletedFile, files: OpenFiles): Promise<void> {
    const known = this.found.get(key);
    if (known !== undefined && !known.place.isDetached) return;
    const place = await this.#places.of(link, device, files);
    if (place === undefined) return;
    this.found.set(key, { place, use: { bytes, inodes: 1 } });
    this.isDeep ||= isDeep(link);
  }
}

function sumsOf(found: HeldFile[]): Omit<HeldFiles, 'isPartial'> {
  const of = (isIn: (place: Place) => boolean) =>
    sumOfUses(found.filter(({ place }) => isIn(place)).map(({ use }) => use));
  const names = new Set(found.flatMap(({ place }) => place.emptyDir ?? []));
  return {
    layers: of(({ directory }) => directory === 'layers'),
    kubelet: of(({ directory }) => directory === 'kubelet'),
    emptyDirs: new Map([...names].map((name) => [name, of(({ emptyDir }) => emptyDir === name)])),
  };
}

/**
 * Returns a function that locates files by directory names: the kubelet's paths contain the pod's UID, and a container runtime's contain
 * the container ID. Pure.
 */
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

/** Locates the files that a pod's processes hold, by their mounts. */
class Places {
  readonly #options: PlaceOptions;
  readonly #budget: WorkBudget;
  readonly #mounts: MountsOfProcesses;
  /** Locations for mounts that no process of the pod has, by mount ID. */
  readonly #detached = new Map<number, Place | undefined>();
  /** Whether the file system of each device is in memory only, as for memfd_create(2), by device number. */
  readonly #devices = new Map<number, boolean>();
  #disks: Record<Place['directory'], number | undefined> | undefined;

  constructor(pids: readonly number[], options: PlaceOptions, budget: WorkBudget) {
    this.#options = options;
    this.#budget = budget;
    this.#mounts = new MountsOfProcesses(pids, { maxMounts: MAX_MOUNTS_A_POD });
  }

  async of(link: string, device: number, files: OpenFiles): Promise<Place | undefined> {
    if (await this.#isInMemory(link, device)) return undefined;
    const id = await this.#take(() => mountIdOf(link));
    if (id === undefined) return undefined;
    if (this.#detached.has(id)) return this.#detached.get(id);
    const mount = await this.#mounts.find(id, files, () => this.#budget.mayContinue());
    if (mount !== undefined) return this.#options.placeOf(mount);
    const place = await this.#take(() => this.#placeOfDetached(link, device));
    this.#detached.set(id, place);
    return place;
  }

  async #isInMemory(link: string, device: number): Promise<boolean> {
    if (!this.#devices.has(device)) {
      const disks = await this.#knownDisks();
      const isOfDisk = device === disks.kubelet || device === disks.layers;
      const kind = isOfDisk ? 'other' : await this.#take(() => fileSystemKind(link));
      this.#devices.set(device, kind === 'memory');
    }
    return this.#devices.get(device)!;
  }

  /** Locates a file on a mount that no process of the pod has, because the file's container has exited or the mount was unmounted. */
  async #placeOfDetached(link: string, device: number): Promise<Place | undefined> {
    const isOverlay = (await fileSystemKind(link)) === 'overlay';
    const disks = await this.#knownDisks();
    const directory = (['kubelet', 'layers'] as const).find((one) => disks[one] === device);
    if (isOverlay) return { directory: 'layers', isDetached: true };
    return directory && { directory, isDetached: true };
  }

  async #knownDisks() {
    const { kubelet, layers } = this.#options.disks;
    const of = async (path: string) =>
      path === ''
        ? undefined
        : await stat(path).then(
            ({ dev }) => dev,
            () => undefined,
          );
    this.#disks ??= { kubelet: await of(kubelet), layers: await of(layers) };
    return this.#disks;
  }

  #take<T>(read: () => Promise<T>): Promise<T | undefined> {
    return this.#budget.wait(this.#options.reads.take(read));
  }
}

/** Returns all elements, rotated to start at a random one. */
function fromAnywhere<T>(all: readonly T[]): T[] {
  const first = Math.floor(Math.random() * all.length);
  return [...all.slice(first), ...all.slice(0, first)];
}
