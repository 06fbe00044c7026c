import type { Engine } from '../engine/engine.ts';
import type { ImageInspection } from '../engine/engine-images.ts';
import { unlessNotFound } from '../engine/unless-not-found.ts';
import { IMAGE_NAMES_CACHE_MS } from '../limits.ts';

/** An image's tags and digests. */
export type ImageNames = Pick<ImageInspection, 'RepoTags' | 'RepoDigests'>;

/** Caches image names by image ID. Entries are short-lived, because images gain and lose names. */
export class ImageNameCache {
  readonly #images: Engine['images'];
  readonly #cache = new Map<string, { atMs: number; names: ImageNames | undefined }>();

  constructor({ images }: Pick<Engine, 'images'>) {
    this.#images = images;
  }

  /** Returns the names of an image, or `undefined` if the image has been removed, which is possible while containers still use it. */
  async find(id: string, signal: AbortSignal): Promise<ImageNames | undefined> {
    const oldestMs = performance.now() - IMAGE_NAMES_CACHE_MS;
    for (const [key, { atMs }] of this.#cache) if (atMs < oldestMs) this.#cache.delete(key);
    const known = this.#cache.get(id);
    if (known !== undefined) return known.names;
    const image = await unlessNotFound(this.#images.inspect(id, signal));
    const names = image && { RepoTags: image.RepoTags, RepoDigests: image.RepoDigests };
    this.#cache.set(id, { atMs: performance.now(), names });
    return names;
  }
}
