import { readFile } from 'node:fs/promises';
import { errorMessage, type Logger, sleep } from '@podwright/base';
import { runChecked } from '@podwright/host';
import { SYNC_DELAY_MS } from '../limits.ts';
import type { Snapshotter } from '../snapshots/snapshotter.ts';
import type { ImageRecords } from './image-records.ts';

export type DiskSyncOptions = { root: string; records: ImageRecords; snapshotter: Snapshotter; logger: Logger };

/** Returns the kernel's boot ID, which changes on every boot. */
export async function readBootId(): Promise<string> {
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
}

/**
 * Syncs new images to disk in the background and then marks their records as synced. Pulls need not wait for the sync: after a power
 * failure, the records show which images had not been synced, and `recoverImages` unpacks them again.
 */
export class DiskSync {
  readonly #options: DiskSyncOptions;
  readonly #abort = new AbortController();
  #running: Promise<void> | undefined;
  #again = false;

  constructor(options: DiskSyncOptions) {
    this.#options = options;
  }

  /**
   * Must be called after an image has been recorded. The sync starts slightly later, because starting a process would delay the pull's
   * response.
   */
  begin(): void {
    this.#again = true;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      if (this.#again && !this.#abort.signal.aborted) this.begin();
    });
  }

  /** Stops without waiting for the disk. Unsynced images are eventually written back by the kernel, or synced after a restart. */
  close(): void {
    this.#abort.abort();
  }

  async #run(): Promise<void> {
    const { records, logger } = this.#options;
    const { signal } = this.#abort;
    while (this.#again) {
      await sleep(SYNC_DELAY_MS, signal).catch(() => undefined);
      if (signal.aborted) return;
      this.#again = false;
      const images = records.list().filter(({ unsyncedBoot }) => unsyncedBoot !== '');
      if (images.length === 0) return;
      try {
        await runChecked('sync', ['--file-system', ...(await this.#paths(images[0]!.chainId))], { signal });
        if (!signal.aborted) records.markSynced(images.map(({ id }) => id));
      } catch (error) {
        if (signal.aborted) return; // the records may be closed by now
        const removed = !records.list().some(({ id }) => id === images[0]!.id);
        if (removed)
          this.#again = true; // a directory was removed in the meantime; sync the others
        else logger.warn({ error: errorMessage(error) }, 'could not sync images to the disk');
      }
    }
  }

  /** Returns a path on each file system to sync; content and snapshots might be on different ones. */
  async #paths(chainId: string): Promise<string[]> {
    const { root, snapshotter } = this.#options;
    return chainId === '' ? [root] : [root, await snapshotter.layerDirectory(chainId)];
  }
}
