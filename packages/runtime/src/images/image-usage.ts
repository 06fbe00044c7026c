import type { ContentStore } from '../content/content-store.ts';
import type { Snapshotter, SnapshotUsage } from '../snapshots/snapshotter.ts';

/** Space that packed and unpacked layers take. Committed snapshots never change, so each is measured once. */
export class ImageUsage {
  readonly #options: { root: string; content: ContentStore; snapshotter: Snapshotter };
  #measured = new Map<string, SnapshotUsage>();

  constructor(options: { root: string; content: ContentStore; snapshotter: Snapshotter }) {
    this.#options = options;
  }

  /** `mountpoint` is a folder on the file system that holds it all; containers' own layers are not counted. */
  async read(): Promise<{ mountpoint: string; sizeBytes: number; inodes: number }> {
    const { root, content, snapshotter } = this.#options;
    const blobs = await content.list();
    const committed = (await snapshotter.list()).filter(({ kind }) => kind === 'committed');
    const measured = new Map<string, SnapshotUsage>();
    for (const { key } of committed) measured.set(key, this.#measured.get(key) ?? (await snapshotter.usage(key)));
    this.#measured = measured;
    const total = { sizeBytes: blobs.reduce((sum, { size }) => sum + size, 0), inodes: blobs.length };
    for (const { sizeBytes, inodes } of measured.values()) {
      total.sizeBytes += sizeBytes;
      total.inodes += inodes;
    }
    return { mountpoint: root, ...total };
  }
}
