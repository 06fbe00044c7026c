/** Deleted files that processes still have open: they use space, but no walk through directories finds them. */
import { closeSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { EventLoopBudget } from '@podwright/base';
import { type MountEntry, parseMountinfo } from '@podwright/system/mountinfo';
import { type FileUse, sumOf } from './file-system-use.ts';

/** Maximum number of descriptors of a pod to check in one measurement, which takes about 0.1 s. */
const MAX_DESCRIPTORS_A_POD = 20_000;

/** Usage in container layers and in the kubelet's directory; of the latter that in emptyDirs, by volume name. */
export type HeldFiles = { layers: FileUse; kubelet: FileUse; emptyDirs: ReadonlyMap<string, FileUse> };

export const NOTHING_HELD: HeldFiles = { layers: sumOf([]), kubelet: sumOf([]), emptyDirs: new Map() };

/** `emptyDir`: name of the volume, if the file is in an emptyDir. */
type Place = { directory: 'layers' | 'kubelet'; emptyDir?: string };

/** The place of files in a mount; `undefined` if they are not the pod's, as in a hostPath. */
export type PlaceOf = (mount: MountEntry) => Place | undefined;

const DELETED = ' (deleted)';
/** Bytes to read of /proc/PID/fdinfo/N: `mnt_id` is in its first lines; a list of locks of any length may follow. */
const FDINFO_BYTES = 256;
const BLOCK_BYTES = 512;
/** The cost of measuring a deleted file, in descriptors. */
const DELETED_COST = 10;

/**
 * Usage of deleted files that these processes of a pod have open. Bounded: of a pod with more than 20,000 descriptors, each call checks
 * a random part. Files that are held only by a mapping or a message in a socket are not found.
 */
export async function heldFiles(pids: readonly number[], placeOf: PlaceOf): Promise<HeldFiles> {
  const budget = new EventLoopBudget();
  const found = new Map<string, HeldFile>();
  let left = MAX_DESCRIPTORS_A_POD;
  for (const pid of fromAnywhere(pids)) {
    if (budget.isSpent) await budget.renew();
    const process = new OpenFiles(pid);
    for (const descriptor of fromAnywhere(process.descriptors())) {
      if (left-- <= 0) return sumsOf([...found.values()]);
      if (budget.isSpent) await budget.renew();
      if (!process.isDeleted(descriptor)) continue;
      left -= DELETED_COST;
      const mount = await process.mountOf(descriptor);
      const place = mount && placeOf(mount);
      const file = place && (await process.fileOf(descriptor));
      if (place !== undefined && file !== undefined) found.set(file.key, { place, use: file.use });
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

/** Directories of the kubelet have the pod's UID in their paths, those of a runtime the container's id. Pure. */
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

/** Descriptors of a process. Closed ones, or an exited process, give empty results. Only `fileOf` may wait for a file system. */
class OpenFiles {
  readonly #directory: string;
  #mounts: Promise<MountEntry[]> | undefined;

  constructor(pid: number) {
    this.#directory = `/proc/${pid}`;
  }

  descriptors(): string[] {
    return orAbsent(() => readdirSync(`${this.#directory}/fd`)) ?? [];
  }

  /** A hint only: a file name may also end like this. */
  isDeleted(descriptor: string): boolean {
    const target = orAbsent(() => readlinkSync(`${this.#directory}/fd/${descriptor}`, 'latin1'));
    return target?.startsWith('/') === true && target.endsWith(DELETED);
  }

  async mountOf(descriptor: string): Promise<MountEntry | undefined> {
    const text = orAbsent(() => beginningOf(`${this.#directory}/fdinfo/${descriptor}`)) ?? '';
    const id = /^mnt_id:\s*(\d+)$/m.exec(text)?.[1];
    if (id === undefined) return undefined;
    this.#mounts ??= readFile(`${this.#directory}/mountinfo`).then(parseMountinfo, () => []);
    return (await this.#mounts).find((mount) => mount.id === Number(id));
  }

  /** The deleted file; `key` is the same for all descriptors of a file. */
  async fileOf(descriptor: string): Promise<{ key: string; use: FileUse } | undefined> {
    const file = await stat(`${this.#directory}/fd/${descriptor}`).catch(() => undefined);
    if (!file?.isFile() || file.nlink > 0) return undefined;
    return { key: `${file.dev} ${file.ino}`, use: { bytes: file.blocks * BLOCK_BYTES, inodes: 1 } };
  }
}

/** All elements, rotated to begin at a random one. */
function fromAnywhere<T>(all: readonly T[]): T[] {
  const first = Math.floor(Math.random() * all.length);
  return [...all.slice(first), ...all.slice(0, first)];
}

function beginningOf(path: string): string {
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(FDINFO_BYTES);
    return buffer.toString('latin1', 0, readSync(file, buffer));
  } finally {
    closeSync(file);
  }
}

function orAbsent<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
