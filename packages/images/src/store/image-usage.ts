import { isNotFound } from '@podwright/base';
import type { ContentStore } from '../content/content-store.ts';
import type { SnapshotInfo, Snapshotter, SnapshotUsage } from '../snapshots/snapshotter.ts';
import type { StorageUsage } from './image-service.ts';
import { UNPACK_KEY_PREFIX } from './layer-snapshots.ts';

/** How long the size of the containers' writable layers is cached: measuring it walks their trees. */
const CONTAINERS_LIFETIME_MS = 10_000;

type Options = { root: string; content: ContentStore; snapshotter: Snapshotter };

/** Disk usage of blobs, layers and containers. Committed snapshots never change, so each is measured once. */
export class ImageUsage {
  readonly #options: Options;
  #measured = new Map<string, SnapshotUsage>();
  #containers: { usage: Promise<SnapshotUsage>; atMs: number } | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  /** `mountpoint` is the root directory of the store. */
  async read(): Promise<StorageUsage> {
    const { root, content, snapshotter } = this.#options;
    const snapshots = await snapshotter.list();
    const blobs = (await content.list()).map(({ size }) => ({ sizeBytes: size, inodes: 1 }));
    const layers = await this.#layers(snapshots);
    return { mountpoint: root, images: sum([...blobs, ...layers]), containers: await this.#ofContainers(snapshots) };
  }

  async #layers(snapshots: SnapshotInfo[]): Promise<SnapshotUsage[]> {
    const measured = new Map<string, SnapshotUsage>();
    for (const { key, kind } of snapshots) {
      if (kind === 'committed') measured.set(key, this.#measured.get(key) ?? (await this.#usage(key)));
    }
    this.#measured = measured;
    return [...measured.values()];
  }

  async #ofContainers(snapshots: SnapshotInfo[]): Promise<SnapshotUsage> {
    const known = this.#containers;
    if (known !== undefined && performance.now() - known.atMs < CONTAINERS_LIFETIME_MS) return known.usage;
    const active = snapshots.filter(({ key, kind }) => kind === 'active' && !key.startsWith(UNPACK_KEY_PREFIX));
    const usage = this.#measureAll(active);
    this.#containers = { usage, atMs: performance.now() };
    usage.catch(() => {
      this.#containers = undefined;
    });
    return usage;
  }

  /** Measures one snapshot after the other, as each walks a tree. */
  async #measureAll(snapshots: SnapshotInfo[]): Promise<SnapshotUsage> {
    const usages: SnapshotUsage[] = [];
    for (const { key } of snapshots) usages.push(await this.#usage(key));
    return sum(usages);
  }

  /** The usage of a snapshot; 0 if it has been removed meanwhile. */
  async #usage(key: string): Promise<SnapshotUsage> {
    try {
      return await this.#options.snapshotter.usage(key);
    } catch (error) {
      if (isNotFound(error)) return { sizeBytes: 0, inodes: 0 };
      throw error;
    }
  }
}

function sum(usages: SnapshotUsage[]): SnapshotUsage {
  const total = { sizeBytes: 0, inodes: 0 };
  for (const { sizeBytes, inodes } of usages) {
    total.sizeBytes += sizeBytes;
    total.inodes += inodes;
  }
  return total;
}
