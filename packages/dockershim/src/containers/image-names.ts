import type { Engine } from '../engine/engine.ts';
import type { ImageInspection } from '../engine/engine-images.ts';
import { unlessNotFound } from '../engine/unless-not-found.ts';
import { IMAGE_NAMES_CACHE_MS } from '../limits.ts';

/** Tags and digests of an image. */
export type ImageNames = Pick<ImageInspection, 'RepoTags' | 'RepoDigests'>;

/** Names of images by image id. They are cached only for a short time, because images gain and lose names. */
export class ImageNameCache {
  readonly #images: Engine['images'];
  readonly #cache = new Map<string, { atMs: number; names: ImageNames | undefined }>();

  constructor({ images }: Pick<Engine, 'images'>) {
    this.#images = images;
  }

  /** The names of an image; `undefined` if the image was removed, which its containers may survive. */
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
