import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno, Limiter, sleep } from '@podwright/base';
import { MAX_LAYER_FILES } from '../limits.ts';

/** What a container has written. */
export type LayerSize = { sizeBytes: number; inodes: number; atMs: number };

/** How long a size is good: measuring walks the layer. */
const KEPT_MS = 60_000;
/** How long who asks waits for a first measure; most layers take less. */
const PATIENCE_MS = 500;
/** Layers that are walked at once: more keep the disk from those who work. */
const AT_ONCE = 2;

/** Sizes of written layers: each is measured once a minute at most, and never while somebody waits for long. */
export class LayerSizes {
  readonly #known = new Map<string, LayerSize>();
  readonly #measuring = new Map<string, Promise<void>>();
  readonly #limiter = new Limiter(AT_ONCE);

  /** The last measure of the directory; nothing where the first one is not done in half a second. */
  async of(directory: string): Promise<LayerSize | undefined> {
    const known = this.#known.get(directory);
    const ageMs = known === undefined ? Number.POSITIVE_INFINITY : Date.now() - known.atMs;
    if (ageMs >= 0 && ageMs < KEPT_MS) return known;
    const measured = this.#measure(directory);
    if (known !== undefined) return known;
    const patience = new AbortController();
    await Promise.race([measured, sleep(PATIENCE_MS, patience.signal).catch(() => undefined)]);
    patience.abort();
    return this.#known.get(directory);
  }

  /** Forgets all but these. */
  keep(directories: Set<string>): void {
    for (const directory of this.#known.keys()) if (!directories.has(directory)) this.#known.delete(directory);
  }

  #measure(directory: string): Promise<void> {
    const running = this.#measuring.get(directory);
    if (running !== undefined) return running;
    const measured = this.#limiter
      .run(async () => void this.#known.set(directory, { ...(await measureTree(directory)), atMs: Date.now() }))
      .catch(() => undefined) // it goes away with its container
      .finally(() => this.#measuring.delete(directory));
    this.#measuring.set(directory, measured);
    return measured;
  }
}

/** What a tree takes on its disk, a file with several names once. Of more than a million files the rest is left out. */
export async function measureTree(top: string): Promise<{ sizeBytes: number; inodes: number }> {
  const total = { sizeBytes: 0, inodes: 0 };
  const linked = new Set<number>();
  const directories = [top];
  for (let directory = directories.pop(); directory !== undefined; directory = directories.pop()) {
    for await (const entry of await opendir(directory)) {
      if (total.inodes >= MAX_LAYER_FILES) return total;
      const path = join(directory, entry.name);
      const stats = await lstat(path).catch(nothingIfGone);
      if (stats === undefined || linked.has(stats.ino)) continue;
      if (stats.nlink > 1 && !stats.isDirectory()) linked.add(stats.ino);
      total.sizeBytes += stats.blocks * BLOCK_BYTES;
      total.inodes++;
      if (stats.isDirectory()) directories.push(path);
    }
  }
  return total;
}

/** Of `blocks` (stat(2)). */
const BLOCK_BYTES = 512;

function nothingIfGone(error: unknown): undefined {
  if (!isErrno(error, 'ENOENT')) throw error;
}
