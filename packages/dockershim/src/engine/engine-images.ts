import type { IncomingMessage } from 'node:http';
import * as z from 'zod';
import type { EngineHttp } from './engine-http.ts';

const names = z
  .array(z.string())
  .nullish()
  .transform((items) => items ?? []);

/** An entry of `GET /images/json`. */
const summary = z.object({ Id: z.string(), RepoTags: names, RepoDigests: names, Size: z.number() });
export type ImageSummary = z.infer<typeof summary>;

/** Response of `GET /images/NAME/json`. Other configuration properties are passed through to verbose output. */
const inspection = z.object({
  ...summary.shape,
  Created: z.string().nullish(),
  Author: z.string().nullish(),
  Architecture: z.string().nullish(),
  Os: z.string().nullish(),
  Config: z.looseObject({ User: z.string().nullish() }).nullish(),
  RootFS: z.object({ Layers: names }).nullish(),
});
export type ImageInspection = z.infer<typeof inspection>;

/** An entry of `GET /images/NAME/history`, which lists the newest layer first. `Created` is in seconds since the epoch. */
const step = z.object({ Created: z.number(), CreatedBy: z.string(), Comment: z.string(), Size: z.number() });
export type ImageStep = z.infer<typeof step>;

/** An image to pull: its name as shown by Docker, and a tag or digest. `auth` is the value of the `X-Registry-Auth` header. */
export type ImagePull = { name: string; version: string; auth?: string; headTimeoutMs: number };

/** The Engine's images, by ID or name. Calls throw `not_found` and the errors of `EngineHttp`. */
export class EngineImages {
  readonly #http: EngineHttp;

  constructor(http: EngineHttp) {
    this.#http = http;
  }

  async list(signal?: AbortSignal): Promise<ImageSummary[]> {
    const call = { what: 'list images', method: 'GET', path: '/images/json', signal } as const;
    return await this.#http.json(call, (value) => z.array(summary).parse(value ?? []));
  }

  async inspect(reference: string, signal?: AbortSignal): Promise<ImageInspection> {
    const call = {
      what: `inspect image ${reference}`,
      method: 'GET',
      path: pathOf(reference, '/json'),
      signal,
    } as const;
    return await this.#http.json(call, (value) => inspection.parse(value));
  }

  async history(id: string, signal?: AbortSignal): Promise<ImageStep[]> {
    const call = { what: `history of image ${id}`, method: 'GET', path: pathOf(id, '/history'), signal } as const;
    return await this.#http.json(call, (value) => z.array(step).parse(value ?? []));
  }

  /** Removes a name from an image, and the image itself if that was its last name. Fails with a conflict if a container uses the image. */
  async remove(reference: string, signal?: AbortSignal): Promise<void> {
    await this.#http.done({ what: `remove image ${reference}`, method: 'DELETE', path: pathOf(reference), signal });
  }

  /** Starts a pull. The response body reports progress as JSON lines. Destroying the response cancels the pull. */
  async pull({ name, version, auth, headTimeoutMs }: ImagePull, signal: AbortSignal): Promise<IncomingMessage> {
    return await this.#http.stream({
      ...{ what: `pull image ${name}`, method: 'POST', path: '/images/create', signal, timeoutMs: headTimeoutMs },
      query: { fromImage: name, tag: version },
      ...(auth !== undefined && { headers: { 'x-registry-auth': auth } }),
    });
  }
}

function pathOf(reference: string, verb = ''): string {
  return `/images/${encodeURIComponent(reference)}${verb}`;
}
