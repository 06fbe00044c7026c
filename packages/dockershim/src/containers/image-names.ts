import * as z from 'zod';
import type { Engine } from '../engine/engine.ts';
import { unlessGone } from '../engine/unless-gone.ts';
import { IMAGE_NAMES_KEPT_MS } from '../limits.ts';

const imageSchema = z.object({
  RepoTags: z.array(z.string()).nullish(),
  RepoDigests: z.array(z.string()).nullish(),
});

/** What an image is called. */
export type ImageNames = { tags: string[]; digests: string[] };

type Kept = { atMs: number; names: ImageNames | undefined };

/** Names of images by id, asked for anew after a while: an image gets and loses names as it lives. */
export class ImageNameCache {
  readonly #http: Engine['http'];
  readonly #kept = new Map<string, Kept>();

  constructor({ http }: Pick<Engine, 'http'>) {
    this.#http = http;
  }

  /** Nothing for an image that is gone: containers may outlive theirs. */
  async find(id: string, signal: AbortSignal): Promise<ImageNames | undefined> {
    const oldestMs = performance.now() - IMAGE_NAMES_KEPT_MS;
    for (const [key, { atMs }] of this.#kept) if (atMs < oldestMs) this.#kept.delete(key);
    const known = this.#kept.get(id);
    if (known !== undefined) return known.names;
    const names = await this.#ask(id, signal);
    this.#kept.set(id, { atMs: performance.now(), names });
    return names;
  }

  async #ask(id: string, signal: AbortSignal): Promise<ImageNames | undefined> {
    const path = `/images/${encodeURIComponent(id)}/json`;
    const call = { what: `inspect image ${id}`, method: 'GET', path, signal } as const;
    const image = await unlessGone(this.#http.json(call, (value) => imageSchema.parse(value)));
    return image && { tags: image.RepoTags ?? [], digests: image.RepoDigests ?? [] };
  }
}
