import { lstat, opendir } from 'node:fs/promises';
import { isErrno, Limiter, sleep } from '@podwright/base';
import { MAX_LAYER_FILES } from '../limits.ts';

/** The size of a container's writable layer. */
export type LayerSize = { sizeBytes: number; inodes: number; atMs: number };

/** How long a size is cached. Measuring it requires walking the layer. */
const CACHE_MS = 60_000;
/** How long a caller waits for a layer's first measurement. Most take less. */
const PATIENCE_MS = 500;
/** Maximum number of layers measured concurrently. More would slow down other disk access. */
const AT_ONCE = 2;

/**
 * Measures the sizes of writable layers. Each layer is measured at most once a minute, in the background. Callers wait only for the first
 * measurement.
 */
export class LayerSizes {
  readonly #known = new Map<string, LayerSize>();
  readonly #measuring = new Map<string, Promise<void>>();
  readonly #limiter = new Limiter(AT_ONCE);

  /**
   * Returns the last measured size of a layer's directory; `undefined` if there is none and the first measurement takes more than half a
   * second.
   */
  async of(directory: string): Promise<LayerSize | undefined> {
    const known = this.#known.get(directory);
    const ageMs = known === undefined ? Number.POSITIVE_INFINITY : Date.now() - known.atMs;
    if (ageMs >= 0 && ageMs < CACHE_MS) return known;
    const measured = this.#measure(directory);
    if (known !== undefined) return known;
    const patience = new AbortController();
    await Promise.race([measured, sleep(PATIENCE_MS, patience.signal).catch(() => undefined)]);
    patience.abort();
    return this.#known.get(directory);
  }

  /** Drops all cached sizes except those of these layer directories. */
  keep(directories: Set<string>): void {
    for (const directory of this.#known.keys()) if (!directories.has(directory)) this.#known.delete(directory);
  }

  #measure(directory: string): Promise<void> {
    const running = this.#measuring.get(directory);
    if (running !== undefined) return running;
    const measured = this.#limiter
      .run(async () => void this.#known.set(directory, { ...(await measureTree(directory)), atMs: Date.now() }))
      .catch(() => undefined) // the container was removed in the meantime
      .finally(() => this.#measuring.delete(directory));
    this.#measuring.set(directory, measured);
    return measured;
  }
}

/**
 * Measures the disk usage of a directory tree, counting hard links once. Skips files after the first million, files removed or replaced
 * concurrently, and files whose path is too long.
 */
export async function measureTree(top: string): Promise<{ sizeBytes: number; inodes: number }> {
  const total = { sizeBytes: 0, inodes: 0 };
  const linked = new Set<number>();
  const directories: Buffer[] = [Buffer.from(top)];
  const options = { encoding: 'buffer' as BufferEncoding }; // names need not be UTF-8
  for (let directory = directories.pop(); directory !== undefined; directory = directories.pop()) {
    const isTop = directory.equals(Buffer.from(top));
    const entries = await opendir(directory as unknown as string, options).catch(isTop ? rethrow : undefinedIfRemoved);
    for await (const entry of entries ?? []) {
      if (total.inodes >= MAX_LAYER_FILES) return total;
      const path = Buffer.concat([directory, Buffer.from('/'), entry.name as unknown as Buffer]);
      const stats = await lstat(path).catch(undefinedIfRemoved);
      if (stats === undefined || linked.has(stats.ino)) continue;
      if (stats.nlink > 1 && !stats.isDirectory()) linked.add(stats.ino);
      total.sizeBytes += stats.blocks * BLOCK_BYTES;
      total.inodes++;
      if (stats.isDirectory()) directories.push(path);
    }
  }
  return total;
}

/** The size in bytes of a block as counted by `blocks` in stat(2). */
const BLOCK_BYTES = 512;

function rethrow(error: unknown): never {
  throw error;
}

function undefinedIfRemoved(error: unknown): undefined {
  if (!['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'].some((code) => isErrno(error, code))) throw error;
}
