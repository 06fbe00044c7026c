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
 * Mark and sweep over content and image snapshots. Marked is what an image needs (`image_needs`) or running work holds
 * (`Leases`); a snapshot that others build on, such as a container's, stays too. The mark is read again under the lock
 * of each blob and snapshot just before it goes. Snapshots of containers are not touched.
 */
export class GarbageCollector {
  readonly #options: GarbageCollectorOptions;
  readonly #lock = new KeyedLock();
  /** A collection that has not begun: callers share it. */
  #next: Promise<void> | undefined;
  #closed = false;

  constructor(options: GarbageCollectorOptions) {
    this.#options = options;
  }

  /** Removes what nothing needs at this moment. One runs at a time. */
  collect(): Promise<void> {
    this.#next ??= this.#lock.run('collect', async () => {
      this.#next = undefined;
      if (this.#closed) return;
      await this.#sweepContent(); // first: it needs no room on a full disk, for records either
      await this.#sweepSnapshots();
    });
    return this.#next;
  }

  /** Waits for the end of the collection that runs; later ones do nothing. */
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
    // chain ids are what image layers are committed under; other rooms name theirs otherwise
    const queue = leaves.map(({ key }) => key);
    for (let key = queue.pop(); key !== undefined; key = queue.pop()) {
      const chainId = key;
      if (!chainId.startsWith('sha256:') || !(await layers.removeIf(chainId, () => this.#isUnneeded(chainId))))
        continue;
      const parent = parents.get(chainId) ?? '';
      const left = (children.get(parent) ?? 1) - 1;
      children.set(parent, left);
      if (left === 0 && parent !== '') queue.push(parent);
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
