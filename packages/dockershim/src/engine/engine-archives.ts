import type { Readable } from 'node:stream';
import { linesOf, withTimeout, wrapError } from '@podwright/base';
import * as z from 'zod';
import { CALL_TIMEOUT_MS, MAX_PROGRESS_LINE_BYTES } from '../limits.ts';
import { engineError } from './engine-error.ts';
import type { EngineCall, EngineHttp } from './engine-http.ts';

const line = z.object({ stream: z.string().optional(), error: z.string().optional() });
const removal = z.array(z.object({ Untagged: z.string().optional(), Deleted: z.string().optional() }));

/** Image archives in Docker's format, and image tags. */
export class EngineArchives {
  readonly #http: EngineHttp;

  constructor(http: EngineHttp) {
    this.#http = http;
  }

  /** Loads the images in an archive, and yields the Engine's progress messages. */
  async *load(archive: Readable, signal?: AbortSignal): AsyncGenerator<z.infer<typeof line>> {
    const call = { what: 'load images', method: 'POST', path: '/images/load', query: { quiet: true } } as const;
    yield* this.#take({ ...call, archive, signal });
  }

  /** Creates an image whose only layer is the given archive. `change` is a Dockerfile instruction to apply to it. */
  async import(
    archive: Readable,
    { name, tag, change }: { name: string; tag: string; change: string },
    signal?: AbortSignal,
  ): Promise<void> {
    const query = { fromSrc: '-', repo: name, tag, changes: change };
    const call = { what: `make image ${name}`, method: 'POST', path: '/images/create', query } as const;
    using bound = withTimeout(signal, CALL_TIMEOUT_MS, call.what); // bounded, because the archive is small
    // the Engine might report an error after sending a success status
    for await (const { error } of this.#take({ ...call, archive, signal: bound }))
      if (error !== undefined) throw engineError(call.what, 500, error);
  }

  /** Saves these images to one archive, which the caller must read or destroy. */
  async save(references: readonly string[], signal?: AbortSignal): Promise<Readable> {
    const names = references.map((name) => `names=${encodeURIComponent(name)}`).join('&');
    const path = `/images/get?${names}`;
    return await this.#http.stream({ what: `save ${references.join(', ')}`, method: 'GET', path, signal });
  }

  /** Adds the name `REPOSITORY:TAG` to an image. */
  async tag(id: string, { repository, tag }: { repository: string; tag: string }, signal?: AbortSignal): Promise<void> {
    const path = `/images/${encodeURIComponent(id)}/tag`;
    await this.#http.done({ what: `tag image ${id}`, method: 'POST', path, query: { repo: repository, tag }, signal });
  }

  /** Sends an archive, and yields the Engine's progress messages. */
  async *#take(call: EngineCall & { archive: Readable }): AsyncGenerator<z.infer<typeof line>> {
    const answer = await this.#http.stream({ ...call, timeoutMs: ARCHIVE_TIMEOUT_MS });
    for await (const text of linesOf(answer, MAX_PROGRESS_LINE_BYTES))
      if (text.trim() !== '') yield parseLine(call.what, text);
  }

  /** Removes a name from an image. Returns whether this also deleted the image. */
  async untag(reference: string, signal?: AbortSignal): Promise<boolean> {
    const path = `/images/${encodeURIComponent(reference)}`;
    const call = { what: `untag ${reference}`, method: 'DELETE', path, signal } as const;
    return (await this.#http.json(call, (value) => removal.parse(value))).some(({ Deleted }) => Deleted !== undefined);
  }
}

function parseLine(what: string, text: string): z.infer<typeof line> {
  try {
    return line.parse(JSON.parse(text));
  } catch (error) {
    throw wrapError(`${what}: the Docker Engine's answer is not as expected`, error, 'internal');
  }
}

/** Timeout of calls that transfer an archive: the Engine responds only once it has read the archive, which might be many gigabytes. */
const ARCHIVE_TIMEOUT_MS = 3_600_000;
