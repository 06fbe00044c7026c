import { KeyedLock } from '@podwright/base';
import type { ContentStore } from '../content/content-store.ts';
import type { Snapshotter } from '../snapshots/snapshotter.ts';
import type { ImageRecords } from './image-records.ts';
import type { LayerSnapshots } from './layer-snapshots.ts';
import type { Leases } from './leases.ts';
import type { VerifiedLayers } from './verified-layers.ts';

export type GarbageCollectorOptions = {
  content: ContentStore;
  layers: LayerSnapshots;
  snapshotter: Snapshotter;
  records: ImageRecords;
  leases: Leases;
  verified: VerifiedLayers;
};

/**
 * Mark-and-sweep garbage collector for content and image snapshots. Marks the blobs and snapshots that an image needs (`image_needs`) or
 * that running work holds (`Leases`). Snapshots with children, such as the parent of a container's snapshot, are retained as well. The mark
 * is rechecked under the lock of each blob or snapshot just before its removal. Container snapshots are not touched.
 */
export class GarbageCollector {
  readonly #options: GarbageCollectorOptions;
  readonly #lock = new KeyedLock();
  /** The next collection, which has not begun yet. Callers that arrive before it begins share it. */
  #next: Promise<void> | undefined;
  #closed = false;

  constructor(options: GarbageCollectorOptions) {
    this.#options = options;
  }

  /** Removes content and snapshots that are currently not needed. Collections run one at a time. */
  collect(): Promise<void> {
    this.#next ??= this.#lock.run('collect', async () => {
      this.#next = undefined;
      if (this.#closed) return;
      await this.#sweepContent(); // first, because deleting content writes no records, so it works on a full disk
      await this.#sweepSnapshots();
    });
    return this.#next;
  }

  /** Waits for the running collection to finish; later calls to `collect` are no-ops. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.collect();
  }

  readonly #isUnneeded = (key: string) => !this.#options.leases.holds(key) && !this.#options.records.needs(key);

  async #sweepSnapshots(): Promise<void> {
    const { snapshotter, layers } = this.#options;
    const snapshots = await snapshotter.list();
    const children = new Map<string, number>();
    for (const { parent } of snapshots) children.set(parent, (children.get(parent) ?? 0) + 1);
    const parents = new Map(snapshots.map(({ key, parent }) => [key, parent]));
    const leaves = snapshots.filter(({ key, kind }) => kind === 'committed' && !children.has(key));
    // snapshots of image layers are keyed by chain ID; all others, such as those of containers, have different keys and are skipped
    const queue = leaves.map(({ key }) => key);
    for (let key = queue.pop(); key !== undefined; key = queue.pop()) {
      const chainId = key;
      if (!chainId.startsWith('sha256:') || !(await layers.removeIf(chainId, () => this.#isUnneeded(chainId))))
        continue;
      const parent = parents.get(chainId) ?? '';
      const remaining = (children.get(parent) ?? 1) - 1;
      children.set(parent, remaining);
      if (remaining === 0 && parent !== '') queue.push(parent);
    }
  }

  async #sweepContent(): Promise<void> {
    const { content, verified } = this.#options;
    for (const { digest } of await content.list()) {
      if (await content.deleteIf(digest, () => this.#isUnneeded(digest))) verified.forget(digest);
    }
    await content.deletePartialsIf(this.#isUnneeded);
  }
}
