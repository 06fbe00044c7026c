import { stat } from 'node:fs/promises';
import { isErrno, isNotFound } from '@podwright/base';
import { TreeMeasures } from '@podwright/host';
import type { ContentStore } from '../content/content-store.ts';
import type { SnapshotInfo, Snapshotter, SnapshotUsage } from '../snapshots/snapshotter.ts';
import type { StorageUsage } from './image-service.ts';
import { UNPACK_KEY_PREFIX } from './layer-snapshots.ts';

/** How long the total size of the containers' writable layers is cached. Measuring it requires walking their directory trees. */
const CONTAINERS_LIFETIME_MS = 10_000;
/** Average fraction of a CPU core that measuring disk usage may use. */
const CPU_SHARE = 0.05;

/** `root`: the root directory of the image store. */
type Options = { root: string; content: ContentStore; snapshotter: Snapshotter };

/** Measures the disk usage of blobs, layers and containers. Committed snapshots never change, so each is measured only once. */
export class ImageUsage {
  readonly #options: Options;
  readonly #layersOfContainers = new TreeMeasures({ cpuShare: CPU_SHARE });
  #measured = new Map<string, SnapshotUsage>();
  #containers: { usage: Promise<SnapshotUsage>; atMs: number } | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  async read(): Promise<StorageUsage> {
    const { root, snapshotter } = this.#options;
    const mountpoint = snapshotter.directory ?? root;
    const snapshots = await snapshotter.list();
    const images = sum([...(await this.#blobsOn(mountpoint)), ...(await this.#layers(snapshots))]);
    return { mountpoint, images, containers: await this.#ofContainers(snapshots) };
  }

  /** Returns the use of the blobs; none if they are on another file system than `mountpoint`, because deleting them frees nothing there. */
  async #blobsOn(mountpoint: string): Promise<SnapshotUsage[]> {
    const { content } = this.#options;
    const [there, own] = await Promise.all([stat(mountpoint), stat(content.directory)]);
    return there.dev === own.dev ? (await content.list()).map(({ size }) => ({ sizeBytes: size, inodes: 1 })) : [];
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

  /**
   * Measures the containers' layers. A layer that takes too long to measure is counted with its last known size or with the part measured
   * so far.
   */
  async #measureAll(snapshots: SnapshotInfo[]): Promise<SnapshotUsage> {
    const { snapshotter } = this.#options;
    const measure = async ({ key }: SnapshotInfo) =>
      (await this.#layersOfContainers.of(await snapshotter.layerDirectory(key))).usage;
    return sum(await Promise.all(snapshots.map((one) => orNothing(measure(one)))));
  }

  #usage(key: string): Promise<SnapshotUsage> {
    return orNothing(this.#options.snapshotter.usage(key));
  }
}

/** Returns the snapshot's usage, or zeros if the snapshot was removed concurrently. */
function orNothing(usage: Promise<SnapshotUsage>): Promise<SnapshotUsage> {
  return usage.catch((error: unknown) => {
    if (isNotFound(error) || isErrno(error, 'ENOENT')) return { sizeBytes: 0, inodes: 0 };
    throw error;
  });
}

function sum(usages: SnapshotUsage[]): SnapshotUsage {
  const total = { sizeBytes: 0, inodes: 0 };
  for (const { sizeBytes, inodes } of usages) {
    total.sizeBytes += sizeBytes;
    total.inodes += inodes;
  }
  return total;
}
