import type { Engine } from '../engine/engine.ts';
import type { ImageInspection } from '../engine/engine-images.ts';
import { unlessGone } from '../engine/unless-gone.ts';
import { IMAGE_NAMES_KEPT_MS } from '../limits.ts';

/** What an image is called. */
export type ImageNames = Pick<ImageInspection, 'RepoTags' | 'RepoDigests'>;

/** Names of images by id, asked for anew after a while: an image gets and loses names as it lives. */
export class ImageNameCache {
  readonly #images: Engine['images'];
  readonly #kept = new Map<string, { atMs: number; names: ImageNames | undefined }>();

  constructor({ images }: Pick<Engine, 'images'>) {
    this.#images = images;
  }

  /** Nothing for an image that is gone: containers may outlive theirs. */
  async find(id: string, signal: AbortSignal): Promise<ImageNames | undefined> {
    const oldestMs = performance.now() - IMAGE_NAMES_KEPT_MS;
    for (const [key, { atMs }] of this.#kept) if (atMs < oldestMs) this.#kept.delete(key);
    const known = this.#kept.get(id);
    if (known !== undefined) return known.names;
    const image = await unlessGone(this.#images.inspect(id, signal));
    const names = image && { RepoTags: image.RepoTags, RepoDigests: image.RepoDigests };
    this.#kept.set(id, { atMs: performance.now(), names });
    return names;
  }
}
